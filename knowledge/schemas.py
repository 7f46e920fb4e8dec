"""The shapes of memory in JSON, the same for the HTTP API and the tools of agents."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from knowledge.errors import NotFound
from knowledge.expiry import MAX_DAYS
from knowledge.ids import MAX_ID_DIGITS as MAX_ID_DIGITS
from knowledge.ids import is_id
from knowledge.text import clean_query, fault_in
from knowledge.types import (
    DEFAULT_PAGE,
    MARK_CLOSE,
    MARK_OPEN,
    MAX_PAGE,
    MAX_TEXT_CHARS,
    UNCHANGED,
    AuditEntry,
    Chunk,
    ChunkQuery,
    Edit,
    Facets,
    Hit,
    Kind,
    NewChunk,
    Page,
    Policy,
    Ranking,
    SearchResult,
    TrustTier,
    Verdict,
)
from knowledge.validation import MAX_NAME_CHARS
from protoconsole.wire import In, Out

NO_NUL = {"pattern": "^[^\\x00]*$"}


def _clean(value: object) -> object:
    fault = fault_in(value) if isinstance(value, str) else None
    if fault:
        raise PydanticCustomError(
            "unstorable", "holds {fault}, which cannot be stored; leave it out", {"fault": fault}
        )
    return value


def _cleaned(value: object) -> object:
    return clean_query(value) if isinstance(value, str) else value


def _row_id(value: object) -> object:
    """An id that no row can have names no row: not found, rather than invalid."""
    text = str(value)
    if not is_id(text):
        raise NotFound("there is no such chunk; ids are whole numbers")
    return int(text)


def _tier(value: object) -> object:
    names = {str(tier.value): tier for tier in TrustTier} | {tier.label: tier for tier in TrustTier}
    return names.get(value, value) if isinstance(value, str) else value


CleanText = Annotated[str, BeforeValidator(_clean), Field(json_schema_extra=NO_NUL)]
Name = Annotated[CleanText, Field(max_length=MAX_NAME_CHARS)]
LongText = Annotated[CleanText, Field(max_length=MAX_TEXT_CHARS)]
QueryText = Annotated[str, BeforeValidator(_cleaned)]
RowId = Annotated[int, BeforeValidator(_row_id)]
Days = Annotated[int, Field(strict=True, ge=1, le=MAX_DAYS)]
MinTrust = Annotated[
    TrustTier,
    BeforeValidator(_tier),
    Field(
        description="The least trusted tier wanted: 1 external, 2 agent, 3 operator",
        json_schema_extra={"enum": ["1", "2", "3", "external", "agent", "operator"], "type": "string"},
    ),
]


class ChunkOut(Out):
    """One row of memory; text and times exactly as stored."""

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
    trust: Literal["operator", "agent", "external"]
    valid: bool = Field(description="Not invalidated, not rejected, not expired")


class HitOut(ChunkOut):
    """A row that a search found."""

    score: float | None = Field(description="Higher is better; null where the newest rows were asked for")
    preview: str = Field(description="The part of the content with most of the words, at most 300 characters")

    @classmethod
    def of(cls, hit: Hit) -> "HitOut":
        chunk = ChunkOut.model_validate(hit.chunk)
        preview = hit.preview.replace(MARK_OPEN, "").replace(MARK_CLOSE, "")
        return cls(**chunk.model_dump(), score=hit.score, preview=preview)


class ChunkList(Out):
    """Rows, newest first; `next` is the cursor of the next page."""

    items: list[ChunkOut]
    next: str | None


class HitList(Out):
    """Rows, best first, and how they were found."""

    items: list[HitOut]
    next: None = Field(default=None, description="A search has one page; list the chunks to go through all")
    ranking: Ranking
    index_pending: int = Field(description="Rows that the index has not yet caught up with")

    @classmethod
    def of(cls, result: SearchResult) -> "HitList":
        hits = [HitOut.of(hit) for hit in result.hits]
        return cls(items=hits, ranking=result.ranking, index_pending=result.index_pending)


class AuditOut(Out):
    """One change of a row: who, when, what before and what after."""

    id: int
    at: str
    batch: str
    action: str
    chunk_id: int
    actor: str
    role: str
    surface: str
    session_id: str | None
    before: dict[str, Any]
    after: dict[str, Any]
    note: str | None
    undone: bool


class AuditList(Out):
    items: list[AuditOut]
    next: str | None

    @classmethod
    def of(cls, page: Page[AuditEntry]) -> "AuditList":
        return cls(items=[AuditOut.model_validate(entry) for entry in page.items], next=page.next)


class DroppedOut(Out):
    """The answer to a text that was nothing but leaked reasoning: no row was made."""

    outcome: Literal["dropped"]
    detail: str


class BatchOut(Out):
    """What a change of many rows did; `batch` names it in the audit trail, null where no row changed."""

    count: int
    batch: str | None
    detail: str


class StatsOut(Out):
    """How many rows there are, in all and by each value of each dimension; '' stands for none."""

    total: int
    domain: dict[str, int]
    kind: dict[str, int]
    trust: dict[str, int]
    review_state: dict[str, int]
    policy: dict[str, int]
    namespace: dict[str, int]
    state: dict[str, int]
    source: dict[str, int] = Field(description="The largest sources only")
    index_pending: int

    @classmethod
    def of(cls, facets: Facets, index_pending: int) -> "StatsOut":
        counts = {
            name: {count.value: count.n for count in getattr(facets, facet)}
            for name, facet in _FACET_OF.items()
        }
        return cls.model_validate({"total": facets.total, **counts, "index_pending": index_pending})


_FACET_OF = {name: name for name in ("domain", "kind", "trust", "policy", "namespace", "state", "source")}
_FACET_OF["review_state"] = "verdict"


class Filters(In):
    """The filters of lists and searches, as parameters of the address."""

    domain: CleanText | None = None
    namespace: list[CleanText] = Field(default=[], description="Repeatable; an empty one means: none")
    epoch: CleanText | None = None
    kind: Kind | None = None
    policy: Policy | None = None
    review_state: Verdict | None = None
    source: CleanText | None = None
    min_trust: MinTrust = TrustTier.EXTERNAL
    include_superseded: bool = False
    deliverable: bool = False

    def query(self, text: str = "") -> ChunkQuery:
        return ChunkQuery(
            text=text,
            domains=_one(self.domain),
            namespaces=self.namespace,
            epoch=self.epoch,
            kinds=_one(self.kind),
            policies=_one(self.policy),
            verdicts=_one(self.review_state),
            sources=_one(self.source),
            min_trust=self.min_trust,
            include_superseded=self.include_superseded,
            deliverable=self.deliverable,
        )


def _one(value: Any) -> tuple[Any, ...]:
    return () if value is None else (value,)


class SearchParameters(Filters):
    q: QueryText = Field(default="", description="Any text; an empty one browses the newest rows")
    k: int = Field(default=10, ge=1, le=MAX_PAGE)


class PageParameters(In):
    cursor: CleanText | None = Field(default=None, description="The `next` of the page before")
    limit: int = Field(default=DEFAULT_PAGE, ge=1, le=MAX_PAGE)


class BrowseParameters(Filters, PageParameters):
    pass


class ChunkIn(In):
    """A row to be written. What is left out, the store decides."""

    content: LongText = Field(min_length=1)
    domain: Name = "general"
    heading: LongText | None = None
    source: Name | None = None
    source_type: Name | None = None
    finding_type: Name | None = None
    namespace: Name | None = None
    epoch: Name | None = None
    memory_kind: Kind | None = None
    subject: Name | None = None
    review_state: Verdict | None = None
    expires_at: CleanText | None = Field(default=None, description="ISO 8601; without a zone it is UTC")
    expires_in_days: Days | None = Field(default=None, description="In the place of expires_at")
    delivery_policy: Policy | None = None

    def chunk(self, expires_at: str | None) -> NewChunk:
        """Make the value that services take, with the expiry that the caller worked out."""
        fields = self.model_dump(exclude={"memory_kind", "expires_at", "expires_in_days"})
        return NewChunk(**fields, kind=self.memory_kind, expires_at=expires_at)


# Not sent, which is something else than a null that was sent.
_LEFT_OUT: Any = None


class ChunkEdit(In):
    """What to change; a field that is left out stays as it is, and null clears heading and expiry."""

    content: CleanText = Field(default=_LEFT_OUT, min_length=1)  # a legacy row may be longer than a new one
    heading: CleanText | None = None
    delivery_policy: Policy = Field(default=_LEFT_OUT)
    expires_at: CleanText | None = None

    def edit(self) -> Edit:
        given = self.model_fields_set
        return Edit(
            content=self.content,
            heading=self.heading if "heading" in given else UNCHANGED,
            delivery_policy=self.delivery_policy,
            expires_at=self.expires_at if "expires_at" in given else UNCHANGED,
        )


class ReviewIn(In):
    state: Verdict
    reason: LongText | None = None


class SourceIn(In):
    source: Name


class PurgeIn(In):
    domain: Name
    before: CleanText | None = Field(default=None, description="ISO 8601; only rows stored earlier go")


def chunk_list(page: Page[Chunk]) -> ChunkList:
    return ChunkList(items=[ChunkOut.model_validate(chunk) for chunk in page.items], next=page.next)
