"""The queue of rows that wait for a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from knowledge import queries
from knowledge.facets import facets, selection_of, total
from knowledge.types import Chunk, ChunkQuery, Facets, Selection, State
from protoconsole.actors import Actor

PAGE = 50
TOP_SOURCES = 20
EVERYTHING = ChunkQuery(states=(State.PENDING,))


@dataclass(frozen=True, slots=True)
class Queue:
    """A page of the queue, and what is known of all that match."""

    rows: Sequence[Chunk]
    cursor: str | None  # where this page begins
    next: str | None
    matching: Selection
    oldest: Chunk | None
    facets: Facets
    waiting: int  # whatever the filters

    def following(self, chunk_id: int) -> int | None:
        """Name the row of this page that comes after one of its rows."""
        return next((second.id for first, second in pairwise(self.rows) if first.id == chunk_id), None)


def matching(query: ChunkQuery) -> ChunkQuery:
    """Narrow filters to what waits; their text narrows instead of ranking."""
    return replace(query, text="", contains=query.text, states=(State.PENDING,))


def read(query: ChunkQuery, by: Actor, *, cursor: str | None = None, newest_first: bool = False) -> Queue:
    """Read a page of what waits and matches, from the first again where the rest has been ruled on.

    Raises Invalid for a cursor that no page gave.
    """
    wanted = matching(query)
    page = queries.browse(wanted, by, cursor=cursor, limit=PAGE, oldest_first=not newest_first)
    if cursor and not page.items:
        return read(query, by, newest_first=newest_first)
    sources = queries.sources_matching(replace(wanted, sources=()), TOP_SOURCES)
    return Queue(
        rows=page.items,
        cursor=cursor,
        next=page.next,
        matching=selection_of(wanted),
        oldest=queries.oldest(wanted) if cursor or newest_first else next(iter(page.items), None),
        facets=replace(facets(wanted), source=sources),
        waiting=total(EVERYTHING),
    )


def after(chunk_id: int, query: ChunkQuery, by: Actor, *, newest_first: bool = False) -> int | None:
    """Name the row that comes after one in the queue, else the one before it, else none."""
    for oldest_first in (not newest_first, newest_first):
        page = queries.browse(matching(query), by, cursor=str(chunk_id), limit=1, oldest_first=oldest_first)
        if page.items:
            return page.items[0].id
    return None
