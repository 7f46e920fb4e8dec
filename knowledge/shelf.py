"""Reads what the page Store shows: rows newest first, or the best hits of a text, with counts beside them."""

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge import catch_up, queries
from knowledge.facets import facets, facets_of, total
from knowledge.types import DEFAULT_PAGE, ChunkQuery, Facets, Hit, Ranking
from protoconsole.actors import Actor

COUNTED_HITS = 100
PREVIEW_CHARS = 300


@dataclass(frozen=True, slots=True)
class Shelf:
    """A part of the store. `among` is how many hits the counts are of, None where they are exact."""

    hits: Sequence[Hit]
    ranking: Ranking
    facets: Facets
    among: int | None
    next: str | None
    index_pending: int


def read(query: ChunkQuery, by: Actor, *, cursor: str | None = None) -> Shelf:
    """Read one page of what matches. Raises Invalid and SearchBroken as `queries.browse` and `search` do."""
    return _ranked(query, by) if query.text.strip() else _newest(query, by, cursor)


def is_empty() -> bool:
    """Say whether the store holds no row at all, not even an invalidated one."""
    return total(ChunkQuery(include_superseded=True)) == 0


def _ranked(query: ChunkQuery, by: Actor) -> Shelf:
    found = queries.search(query, by, k=COUNTED_HITS)
    counted = facets_of(hit.chunk for hit in found.hits)
    return Shelf(found.hits, found.ranking, counted, len(found.hits), None, found.index_pending)


def _newest(query: ChunkQuery, by: Actor, cursor: str | None) -> Shelf:
    page = queries.browse(query, by, cursor=cursor, limit=DEFAULT_PAGE)
    hits = [Hit(chunk, None, chunk.content[:PREVIEW_CHARS]) for chunk in page.items]
    return Shelf(hits, Ranking.NEWEST, facets(query), None, page.next, catch_up.pending())
