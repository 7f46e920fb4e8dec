"""All that an operator needs to rule on one row."""

from dataclasses import dataclass
from enum import StrEnum

from django.utils import timezone

from knowledge import fact_index, queries
from knowledge.errors import NotFound
from knowledge.origins import Origin, origin_of
from knowledge.rows import select
from knowledge.search.filters import NOT_EXPIRED, NOT_REJECTED, Where
from knowledge.times import to_iso
from knowledge.types import AuditEntry, Chunk, ChunkQuery, Relation, State
from protoconsole.actors import Actor


class Likeness(StrEnum):
    """How another row is like the one on the card."""

    REPLACED = "replaced"  # a verdict to confirm would supersede it
    REJECTED = "rejected"
    SAME = "same"
    NEAR = "near"


@dataclass(frozen=True, slots=True)
class Other:
    """Another row to hold against the one on the card."""

    likeness: Likeness
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Card:
    """One row with what speaks for and against it, and its last change."""

    chunk: Chunk
    origin: Origin
    other: Other | None
    last: AuditEntry | None

    @property
    def waits(self) -> bool:
        return self.chunk.state is State.PENDING


def read(chunk_id: int, by: Actor) -> Card:
    """Read the card of a row. Raises NotFound as `queries.get` does."""
    chunk = queries.get(chunk_id, by)
    waits = chunk.state is State.PENDING
    other = (_linked(chunk, by) or _alike(chunk)) if waits else None
    return Card(chunk, origin_of(chunk), other, last_change(chunk.id, by))


def last_change(chunk_id: int, by: Actor) -> AuditEntry | None:
    """Read the newest line of a row's trail; none where only another program wrote it."""
    return next(iter(queries.trail(chunk_id, by, limit=1).items), None)


def _linked(chunk: Chunk, by: Actor) -> Other | None:
    link = queries.link_of(chunk.id)
    if link is None:
        return None
    try:
        if link.relation is Relation.RESEMBLES_REJECTED:
            return Other(Likeness.REJECTED, queries.get(link.target_id, by))
        head = queries.end_of(queries.history(link.target_id, by), link.target_id)
    except NotFound:  # deleted since: there is nothing left to compare with
        return None
    replaceable = head.invalidated_at is None and head.id != chunk.id
    return Other(Likeness.REPLACED, head) if replaceable else None


def _alike(chunk: Chunk) -> Other | None:
    now = to_iso(timezone.now())
    valid = f"c.id <> ? AND c.invalidated_at IS NULL AND {NOT_EXPIRED} AND {NOT_REJECTED}"
    others = Where(valid, (chunk.id, now))
    if chunk.domain == fact_index.FACT_DOMAIN:
        return _nearest_fact(chunk, others, now)
    words = queries.where_of(ChunkQuery(contains=chunk.content), now)
    same = Where(f"{words.sql} AND {valid} AND c.content = ?", (*words.params, *others.params, chunk.content))
    found = select(same, "ORDER BY c.id LIMIT 1", now=now)
    return Other(Likeness.SAME, found[0]) if found else None


def _nearest_fact(chunk: Chunk, others: Where, now: str) -> Other | None:
    match = fact_index.nearest(chunk.content, chunk.namespace, others)
    found = select(Where("c.id = ?", (match.chunk_id,)), "", now=now) if match else []
    if not found:  # none is like it, or it was deleted since
        return None
    return Other(Likeness.SAME if found[0].content == chunk.content else Likeness.NEAR, found[0])
