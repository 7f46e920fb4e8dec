"""The values that cross the borders of this app. No Django, no clock, no file."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from hashlib import sha256
from typing import Generic, TypeVar

MAX_TEXT_CHARS = 100_000
MAX_PAGE = 200
DEFAULT_PAGE = 50


class TrustTier(IntEnum):
    """How far a row can be trusted, from the path that wrote it (`knowledge.trust`)."""

    EXTERNAL = 1
    AGENT = 2
    OPERATOR = 3

    @property
    def label(self) -> str:
        return self.name.lower()


class Kind(StrEnum):
    """What a memory is."""

    PROFILE = "profile"
    STANDING = "standing"
    FACT = "fact"
    DECISION = "decision"
    NOTE = "note"
    EPISODE = "episode"
    REFERENCE = "reference"
    LEGACY = "legacy"


class Policy(StrEnum):
    """When a memory enters a prompt."""

    ALWAYS = "always"
    RETRIEVED = "retrieved"
    ON_DEMAND = "on_demand"


class Verdict(StrEnum):
    """What an operator ruled."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"


class Outcome(StrEnum):
    """What became of a write."""

    STORED = "stored"
    DUPLICATE = "duplicate"
    REVISED = "revised"
    PROPOSED = "proposed"
    DROPPED = "dropped"
    REFUSED = "refused"


class Relation(StrEnum):
    """How a row points at another one before any operator has ruled."""

    PROPOSES = "proposes"  # takes the other's place when confirmed
    RESEMBLES_REJECTED = "resembles_rejected"


class State(StrEnum):
    """The one word that a list shows for a row; the first that holds, in this order."""

    DELETED = "deleted"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    EXPIRED = "expired"
    PENDING = "pending"
    CONFIRMED = "confirmed"


class Ranking(StrEnum):
    """Which ranking answered a search."""

    KEYWORD = "keyword"
    LIKE = "like"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A row to be written. `None` means that the caller named nothing; text is exact, not yet guarded."""

    content: str
    domain: str = "general"
    heading: str | None = None
    source: str | None = None
    source_type: str | None = None
    finding_type: str | None = None
    namespace: str | None = None
    epoch: str | None = None
    kind: Kind | None = None
    subject: str | None = None
    review_state: Verdict | None = None
    expires_at: str | None = None  # ISO 8601, UTC
    delivery_policy: Policy | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """Another row that this one speaks of."""

    relation: Relation
    target_id: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """One row of memory as everything above the store sees it: pages, JSON and tools alike.

    Times are ISO 8601 text exactly as stored; `memory_kind`, `delivery_policy` and `review_state` are
    filled in where a row of an older program has NULL.
    """

    id: int
    content: str
    domain: str
    heading: str | None
    source: str | None
    source_type: str | None
    finding_type: str | None
    namespace: str | None
    epoch: str | None
    created_at: str
    updated_at: str
    invalidated_at: str | None
    invalidation_reason: str | None
    memory_kind: Kind
    subject: str | None
    review_state: Verdict
    expires_at: str | None
    delivery_policy: Policy
    trust_tier: TrustTier
    expired: bool

    @property
    def trust(self) -> str:
        return self.trust_tier.label

    @property
    def valid(self) -> bool:
        """True while not invalidated, rejected or expired."""
        return self.invalidated_at is None and self.review_state is not Verdict.REJECTED and not self.expired

    @property
    def version(self) -> str:
        """A tag of the stored row, for `If-Match`; the passing of time alone does not change it."""
        stored = [getattr(self, name) for name in self.__slots__ if name != "expired"]
        return sha256(repr(stored).encode(errors="backslashreplace")).hexdigest()[:20]

    @property
    def superseded_by(self) -> int | None:
        """The id of the row that took this one's place, where the chain names it."""
        prefix, _, successor = (self.invalidation_reason or "").partition(":")
        return (
            int(successor)
            if prefix == "superseded_by" and successor.isascii() and successor.isdigit()
            else None
        )

    @property
    def state(self) -> State:
        if self.invalidated_at is not None and self.invalidation_reason in SOFT_DELETE_REASONS:
            return State.DELETED
        if self.invalidated_at is not None and self.invalidation_reason != REJECTED_REASON:
            return State.SUPERSEDED
        if self.review_state is Verdict.REJECTED:
            return State.REJECTED
        if self.expired:
            return State.EXPIRED
        return State.CONFIRMED if self.review_state is Verdict.CONFIRMED else State.PENDING


SOURCE_DELETE_REASON = "source_delete"
PURGE_REASON = "purge"
REJECTED_REASON = "rejected"
SOFT_DELETE_REASONS = frozenset({SOURCE_DELETE_REASON, PURGE_REASON})


def superseded_reason(successor_id: int) -> str:
    return f"superseded_by:{successor_id}"


@dataclass(frozen=True, slots=True)
class ChunkQuery:
    """Every filter of every read. A new filter is a field here, a line in `queries.matching`, a form field.

    `text` is ranked; `contains` narrows to rows that hold all of its words.
    `''` among `namespaces` matches rows without a namespace. `sources` are exact. `states` narrows by the
    word of `State`. `include_superseded` also lets in invalidated rows; `deliverable` only what may enter a
    prompt unasked.
    """

    text: str = ""
    contains: str = ""
    ids: Sequence[int] = ()
    domains: Sequence[str] = ()
    namespaces: Sequence[str] = ()
    epoch: str | None = None
    kinds: Sequence[Kind] = ()
    policies: Sequence[Policy] = ()
    verdicts: Sequence[Verdict] = ()
    sources: Sequence[str] = ()
    trust: Sequence[TrustTier] = ()
    min_trust: TrustTier = TrustTier.EXTERNAL
    states: Sequence[State] = ()
    include_superseded: bool = False
    include_expired: bool = True
    deliverable: bool = False
    exclude_rejected: bool = False  # set from the actor: agents and plugins read no rejected row


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result. `score` is higher for better; None when the list is merely the newest rows."""

    chunk: Chunk
    score: float | None
    preview: str  # at most 300 characters; matches between MARK_OPEN and MARK_CLOSE


MARK_OPEN = "\ue000"
MARK_CLOSE = "\ue001"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list, newest first. `next` is an opaque cursor, None at the end."""

    items: Sequence[T]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits best first, which ranking found them, and how many rows the index has not yet caught up with."""

    hits: Sequence[Hit]
    ranking: Ranking
    index_pending: int = 0


@dataclass(frozen=True, slots=True)
class Count:
    value: str
    n: int


@dataclass(frozen=True, slots=True)
class Facets:
    """Counts of the rows that match a query, by each dimension, largest first."""

    total: int
    domain: Sequence[Count] = ()
    kind: Sequence[Count] = ()
    trust: Sequence[Count] = ()
    verdict: Sequence[Count] = ()
    policy: Sequence[Count] = ()
    namespace: Sequence[Count] = ()
    state: Sequence[Count] = ()
    source: Sequence[Count] = ()


@dataclass(frozen=True, slots=True)
class Added:
    """The answer of a write: what happened, to which row, and a sentence that says why."""

    outcome: Outcome
    chunk: Chunk | None
    why: str
    other_id: int | None = (
        None  # the duplicate, the row superseded, or the row that a proposal would supersede
    )


class Unchanged:
    """The type of the one value that says: leave this field alone."""

    __slots__ = ()


UNCHANGED = Unchanged()


@dataclass(frozen=True, slots=True)
class Edit:
    """What an operator changes. Text makes a new revision; policy and expiry change in place.

    `UNCHANGED` leaves a field as it is; None clears it.
    """

    content: str | None = None
    heading: str | Unchanged | None = UNCHANGED
    delivery_policy: Policy | None = None
    expires_at: str | Unchanged | None = UNCHANGED


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows for a bulk verdict: all that match a query, bound to what the operator saw of it.

    `count` and `newest` are the number of matching rows and their highest id at that time.
    """

    query: ChunkQuery
    count: int
    newest: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A change of one or many rows that can be undone as one; `skipped` rows were left as they are."""

    id: str
    action: str
    count: int
    at: str
    skipped: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the audit trail: who changed which row, when, what before and what after."""

    id: int
    at: str
    batch: str
    action: str
    chunk_id: int
    actor: str
    role: str
    surface: str
    session_id: str | None
    before: dict[str, object]
    after: dict[str, object]
    note: str | None
    undone: bool


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """All rows of one source: how many are alive and how many wait in the grace time of a bulk delete."""

    source: str
    total: int
    deleted: int
