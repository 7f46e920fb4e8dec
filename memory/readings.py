"""What the session that wrote a row had been given before: the trail from a poisoned page to what came of it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge import queries
from knowledge.times import parse_iso
from knowledge.types import Chunk, ChunkQuery, State, TrustTier, Verdict
from memory import session_index
from memory.evidence import rows_now
from memory.injections import queries as log
from memory.injections.types import Entered, Given, Turn, TurnQuery
from memory.types import Ref
from protoconsole.actors import Actor

LOOKED_AT = 500  # the last that the session was given; nothing is said of earlier ones
SHOWN = 12
TURNS_SHOWN = 5
MOST_SESSIONS = 500
MOST_WAITING = 5_000
MOST_GIVEN = 20_000


@dataclass(frozen=True, slots=True)
class Reading:
    """A row that a session had been given, in which turn first, and why it matters."""

    ref: Ref
    injection_id: int
    at: str
    source: str | None
    external: bool
    rejected: bool
    chunk: Chunk | None


@dataclass(frozen=True, slots=True)
class Readings:
    """External rows and rows rejected by now, newest first.

    `unseen` were given too early to be looked at; `has_summary` says whether the session has a page.
    """

    session_id: str
    items: Sequence[Reading]
    unseen: int
    has_summary: bool

    @property
    def shown(self) -> Sequence[Reading]:
        return self.items[:SHOWN]

    @property
    def more(self) -> int:
        return len(self.items) - len(self.shown)

    @property
    def sources(self) -> list[str]:
        """The external sources by name, each once."""
        named = (item.source for item in self.items if item.external)
        return list(dict.fromkeys(source for source in named if source))

    @property
    def external(self) -> int:
        return sum(item.external for item in self.items)

    @property
    def rejected(self) -> int:
        return sum(item.rejected for item in self.items)


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns that a row entered: how many, and the latest of them."""

    ref: Ref
    entered: Entered
    latest: Sequence[Turn]


def turns_of(ref: Ref) -> Turns:
    """Read which turns a row entered."""
    entered = log.count_of(ref)
    latest = log.turns(TurnQuery(ref=ref), limit=TURNS_SHOWN).items if entered.count else ()
    return Turns(ref, entered, latest)


def readings_of(chunk: Chunk, by: Actor) -> Readings | None:
    """Read what the session of a row had read before it was stored; None where no session wrote it."""
    stored = parse_iso(chunk.created_at)
    if chunk.trust_tier is not TrustTier.AGENT or not chunk.source or stored is None:
        return None
    given = log.read_before(chunk.source, stored)
    recent = given[-LOOKED_AT:]
    rows = rows_now((one.ref for one in recent), by)
    return Readings(
        session_id=chunk.source,
        items=list(_telling(reversed(recent), rows)),
        unseen=len(given) - len(recent),
        has_summary=bool(session_index.present([chunk.source])),
    )


def waiting_after_external(by: Actor) -> list[int]:
    """Name the waiting rows that a session wrote after it had been given text from outside.

    Bounded: the sessions with most waiting rows, and the oldest of these rows, are looked at.
    """
    waiting = ChunkQuery(states=(State.PENDING,), trust=(TrustTier.AGENT,))
    sessions = [count.value for count in queries.sources_matching(waiting, MOST_SESSIONS)]
    since = _first_from_outside(sessions, by)
    written = queries.writings(replace(waiting, sources=tuple(since)), MOST_WAITING) if since else []
    return [chunk_id for chunk_id, source, at in written if source in since and _is_later(at, since[source])]


def _first_from_outside(sessions: Sequence[str], by: Actor) -> dict[str, str]:
    """Tell when each session was first given text from outside; those that never were are not named."""
    given = log.from_outside(sessions, MOST_GIVEN)
    rows = rows_now((one.ref for _, one in given if one.tier is None), by)
    first: dict[str, str] = {}
    for session_id, one in given:
        row = rows.get(one.ref)
        if one.tier is not None or (row is not None and row.trust_tier is TrustTier.EXTERNAL):
            first.setdefault(session_id, one.at)
    return first


def _is_later(stored: str, given: str) -> bool:
    moment, before = parse_iso(stored), parse_iso(given)
    return moment is not None and before is not None and moment > before


def _telling(given: Iterable[Given], rows: Mapping[Ref, Chunk]) -> Iterator[Reading]:
    for one in given:
        row = rows.get(one.ref)
        tier = one.tier if one.tier is not None or row is None else row.trust_tier
        external = tier is TrustTier.EXTERNAL
        rejected = row is not None and row.review_state is Verdict.REJECTED
        if external or rejected:
            source = one.source if one.tier is not None or row is None else row.source
            yield Reading(one.ref, one.injection_id, one.at, source, external, rejected, row)
