"""Reads all that the page of one chunk shows: the row, its revisions, what it speaks of, its trail."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils import timezone

from knowledge import queries, sources
from knowledge.diffs import word_diff
from knowledge.excerpts import Excerpt, excerpts
from knowledge.rows import select
from knowledge.search.filters import Where
from knowledge.sources import SourceRows
from knowledge.times import to_iso
from knowledge.types import AuditEntry, Chunk, Page, Relation, State
from protoconsole.actors import Actor
from protoconsole.databases import KNOWLEDGE, fetch

TRAIL_PAGE = 20
REVISIONS_EACH_WAY = 4
MOST_PROPOSALS = 10

_PROPOSALS = """SELECT chunk_id FROM pc_links WHERE target_id = ? AND relation = ?
    ORDER BY chunk_id DESC LIMIT ?"""
_BATCHES = """SELECT batch, COUNT(*), SUM(action = 'superseded') FROM pc_audit
    WHERE batch IN (SELECT value FROM json_each(?)) GROUP BY batch"""


@dataclass(frozen=True, slots=True)
class Revision:
    """One row of a chain, and how its text differs from the one before; `diff` is empty for the first."""

    chunk: Chunk
    current: bool
    heading: Sequence[Excerpt] = ()
    diff: Sequence[Excerpt] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """The revisions around a row, newest first, and how many more there are on each side."""

    revisions: Sequence[Revision]
    earlier: int
    later: int
    newest: Chunk


@dataclass(frozen=True, slots=True)
class LinkedRow:
    """Another row that this one speaks of (or that speaks of this one), with the difference of the texts."""

    relation: Relation
    chunk: Chunk
    diff: Sequence[Excerpt]


@dataclass(frozen=True, slots=True)
class TrailLine:
    """A line of the trail, and how many changes an undo takes back: 0 where it cannot be undone."""

    entry: AuditEntry
    undoes: int


@dataclass(frozen=True, slots=True)
class Dossier:
    """One chunk with everything around it."""

    chunk: Chunk
    chain: Chain
    link: LinkedRow | None
    proposals: Sequence[Chunk]
    trail: Page[TrailLine]
    deleted_with: SourceRows | None  # the source whose restore brings this row back

    @property
    def nothing_stands(self) -> bool:
        """Say whether a superseded row has no valid successor, so that it can be brought back."""
        newest = self.chain.newest
        return self.chunk.state is State.SUPERSEDED and (newest.id == self.chunk.id or not newest.valid)


def of(chunk_id: int, by: Actor, *, cursor: str | None = None) -> Dossier:
    """Read the dossier of a chunk. Raises NotFound, and Invalid for a cursor that its trail did not give."""
    chunk = queries.get(chunk_id, by)
    deleted = chunk.state is State.DELETED and chunk.source
    return Dossier(
        chunk=chunk,
        chain=_chain(chunk, queries.history(chunk_id, by)),
        link=link_of(chunk),
        proposals=_proposals_for(chunk),
        trail=_trail(chunk, queries.trail(chunk_id, by, cursor=cursor, limit=TRAIL_PAGE)),
        deleted_with=sources.one(deleted) if deleted else None,
    )


def link_of(chunk: Chunk) -> LinkedRow | None:
    """Read the row that a proposal would replace or that a rejected one resembles, while it exists."""
    link = queries.link_of(chunk.id)
    target = _by_ids([link.target_id]) if link else []
    if link is None or not target:
        return None
    return LinkedRow(link.relation, target[0], _diff(target[0].content, chunk.content))


def _chain(chunk: Chunk, history: Sequence[Chunk]) -> Chain:
    at = next(n for n, row in enumerate(history) if row.id == chunk.id)
    first, end = max(0, at - REVISIONS_EACH_WAY), min(len(history), at + REVISIONS_EACH_WAY + 1)
    shown = list(_revisions(history[first:end], chunk))
    return Chain(shown[::-1], first, len(history) - end, queries.end_of(history, chunk.id))


def _revisions(rows: Sequence[Chunk], current: Chunk) -> Iterator[Revision]:
    yield Revision(rows[0], rows[0].id == current.id)
    for before, after in pairwise(rows):
        heading = _diff(before.heading or "", after.heading or "") if before.heading != after.heading else ()
        yield Revision(after, after.id == current.id, heading, _diff(before.content, after.content))


def _diff(before: str, after: str) -> list[Excerpt]:
    return excerpts(word_diff(before, after))


def _proposals_for(chunk: Chunk) -> list[Chunk]:
    rows = fetch(KNOWLEDGE, _PROPOSALS, (chunk.id, Relation.PROPOSES, MOST_PROPOSALS))
    return [row for row in _by_ids([row[0] for row in rows]) if row.state is State.PENDING]


def _by_ids(ids: Sequence[int]) -> list[Chunk]:
    where = Where("c.id IN (SELECT value FROM json_each(?))", (json.dumps(ids),))
    return select(where, "ORDER BY c.id DESC", now=to_iso(timezone.now())) if ids else []


def _trail(chunk: Chunk, page: Page[AuditEntry]) -> Page[TrailLine]:
    batches = {batch: (n, superseded) for batch, n, superseded in _batches_of(page.items)}
    lines = [TrailLine(entry, _undoes(entry, chunk, batches)) for entry in page.items]
    return Page(lines, page.next)


def _batches_of(entries: Sequence[AuditEntry]) -> list[tuple[str, int, int]]:
    batches = json.dumps(sorted({entry.batch for entry in entries}))
    return [(row[0], row[1], row[2]) for row in fetch(KNOWLEDGE, _BATCHES, (batches,))]


def _undoes(entry: AuditEntry, chunk: Chunk, batches: Mapping[str, tuple[int, int]]) -> int:
    """Foresee what `services.undo` says of this row; it has the last word on the others of the batch."""
    size, superseded = batches[entry.batch]
    if entry.undone or not entry.after:
        return 0
    if entry.before:
        stands = all(getattr(chunk, name) == value for name, value in entry.after.items())
    else:
        stands = superseded > 0 and chunk.invalidated_at is None
    return size if stands else 0
