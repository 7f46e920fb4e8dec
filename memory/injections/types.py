"""What the log answers. No Django, no clock, no file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from knowledge.types import TrustTier, Verdict
from memory.types import Budget, LeftOut, Part, Ref, Section


class Index(IntEnum):
    """The directions in which turns are looked up."""

    TURN = 0  # all of them
    SESSION = 1  # of one session
    CHUNK = 2  # that a chunk entered
    DIGEST = 3  # that were told of a session


@dataclass(frozen=True, slots=True)
class TurnQuery:
    """Which turns; both moments are inclusive. `ref` names a chunk, `told_of` a session in the digest."""

    session_id: str | None = None
    ref: Ref | None = None
    told_of: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of a turn beyond the other program's columns."""

    key: str
    turn_id: str | None
    model: str
    window: int | None
    text_sha256: str
    sections: Sequence[Section]
    budget: Budget
    sources: Sequence[str]
    tiers: Mapping[TrustTier, int]  # delivered chunks by tier


@dataclass(frozen=True, slots=True)
class Turn:
    """One row of the log. `kept` is None for a row of another program, which has ids and no text."""

    id: int
    ts: str
    session_id: str
    digest_ids: Sequence[Ref]
    hot_ids: Sequence[Ref]
    rag_ids: Sequence[Ref]
    approx_tokens: int
    stage_counts: Mapping[str, int]
    kept: Kept | None

    @property
    def legacy(self) -> bool:
        return self.kept is None


@dataclass(frozen=True, slots=True)
class Item:
    """One delivered entry as it was then. Rows of another program have no words, score, tier or verdict."""

    part: Part
    ref: Ref
    rank: int
    words: str | None = None
    score: float | None = None
    tier: TrustTier | None = None
    verdict: Verdict | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class TurnDetail:
    """`left_out` may be shorter than `left_out_total`: a turn keeps a bounded number of them."""

    turn: Turn
    query: str | None
    items: Sequence[Item]
    left_out: Sequence[LeftOut]
    left_out_total: int


@dataclass(frozen=True, slots=True)
class Entered:
    """How many turns a chunk entered, with the times of the first and the last."""

    count: int
    first: str | None
    last: str | None


@dataclass(frozen=True, slots=True)
class Given:
    """That a session was given a chunk: in which turn first, and as what it stood there.

    `tier` and `source` are None where another program recorded it.
    """

    ref: Ref
    injection_id: int
    at: str
    tier: TrustTier | None
    source: str | None
