"""Reads what the page Hot memory shows: the always-on rows in their order, and how full that part is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from knowledge import queries
from knowledge.origins import Origin, origin_of
from knowledge.times import parse_iso
from knowledge.types import AuditEntry, Chunk
from memory import hot
from memory.envelope.render import always_on_words
from memory.gathering import always_on_candidates
from memory.projection import MOST_ALWAYS_ON_CHARS, MOST_ALWAYS_ON_ROWS, project
from memory.types import Candidates, MemoryCandidate, Options, Part, Reason, Ref
from protoconsole.actors import Actor
from protoconsole.instance import current

ROWS_A_PAGE = 100
FRESH_FOR = timedelta(days=7)
MOST_TRACED = 5  # of the newest rows it is told who wrote them, from their trail
MAX_TRAIL = 200
WHY_NOT: Mapping[Reason, str] = {
    Reason.CAP: "No longer fits",
    Reason.REJECTED: "An operator rejected it",
    Reason.EXPIRED: "Its time has passed",
    Reason.EMPTY: "Nothing is left of it without its leaked reasoning",
    Reason.MEMORY_OFF: "Memory is switched off",
}


@dataclass(frozen=True, slots=True)
class BoardRow:
    """An always-on row: its place in the prompt from 1, or why it has none.

    `chars` is what it takes of the part's characters. `birth` is the first line of its trail, read for the
    newest rows alone, and None where another program wrote the row.
    """

    chunk: Chunk
    place: int | None
    why_not: Reason | None
    chars: int
    origin: Origin
    fresh: bool
    birth: AuditEntry | None = None

    @property
    def why(self) -> str:
        return WHY_NOT.get(self.why_not, "It may not enter a prompt") if self.why_not else ""


@dataclass(frozen=True, slots=True)
class Board:
    """The rows of one page by what becomes of them, and what all that are delivered take."""

    delivered: Sequence[BoardRow]
    crowded_out: Sequence[BoardRow]
    held_back: Sequence[BoardRow]
    rows_used: int
    chars_used: int
    memory_on: bool
    next: str | None

    @property
    def blocker(self) -> BoardRow | None:
        """The row whose length keeps all older ones out, where this page shows it."""
        if self.rows_used >= MOST_ALWAYS_ON_ROWS or not self.crowded_out:
            return None
        first = self.crowded_out[0]
        return first if self.chars_used + first.chars > MOST_ALWAYS_ON_CHARS else None


def read(by: Actor, *, cursor: str | None = None) -> Board:
    """Read one page of the always-on rows. Raises Invalid for a cursor that no list gave."""
    page = hot.page(by, cursor=cursor, limit=ROWS_A_PAGE)
    offered = always_on_candidates()
    places = _places(offered)
    words = {row.ref: len(always_on_words(row)) for row in offered}
    traced = [] if cursor else page.items[:MOST_TRACED]
    births = {row.chunk.id: _birth(row.chunk, by) for row in traced}
    now = timezone.now()
    rows = [
        BoardRow(
            chunk=row.chunk,
            place=places.get(row.chunk.id),
            why_not=row.why_not,
            chars=words.get(row.chunk.id, _stored_chars(row.chunk)),
            origin=origin_of(row.chunk),
            fresh=_is_fresh(row.chunk, now),
            birth=births.get(row.chunk.id),
        )
        for row in page.items
    ]
    return Board(
        delivered=[row for row in rows if row.why_not is None],
        crowded_out=[row for row in rows if row.why_not is Reason.CAP],
        held_back=[row for row in rows if row.why_not not in (None, Reason.CAP)],
        rows_used=len(places),
        chars_used=sum(words[ref] for ref in places),
        memory_on=current().config.middleware.knowledge,
        next=page.next,
    )


def _places(offered: Sequence[MemoryCandidate]) -> dict[Ref, int]:
    """Number the rows that the next turn is given."""
    options = Options(memory_on=current().config.middleware.knowledge)
    projection = project(Candidates(always_on=offered), options)
    return {ref: place for place, ref in enumerate(projection.ids(Part.ALWAYS_ON), 1)}


def _stored_chars(chunk: Chunk) -> int:
    return len(f"[{chunk.heading}] {chunk.content}" if chunk.heading else chunk.content)


def _is_fresh(chunk: Chunk, now: datetime) -> bool:
    stored = parse_iso(chunk.created_at)
    return stored is not None and now - stored < FRESH_FOR


def _birth(chunk: Chunk, by: Actor) -> AuditEntry | None:
    trail = queries.trail(chunk.id, by, limit=MAX_TRAIL)
    return trail.items[-1] if trail.items and trail.next is None else None
