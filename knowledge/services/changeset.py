"""The one way to change rows: a transaction that keeps index, counts and audit trail with the rows."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from knowledge import audit, catch_up
from knowledge.audit import Change, Values
from knowledge.errors import Conflict, Forbidden, NotFound, Stale
from knowledge.models import ChunkRow, LinkRow
from knowledge.rows import COLUMNS, batches, select
from knowledge.search.filters import Where
from knowledge.times import to_iso
from knowledge.types import Batch, Chunk, Relation
from protoconsole.actors import Actor
from protoconsole.databases import KNOWLEDGE, execute_each, write_transaction

_TEXT = ("content", "heading")


@dataclass(slots=True)
class ChangeSet:
    """The changes of one call, made by one actor at one moment, undone as one."""

    by: Actor
    now: str
    batch: str = field(default_factory=audit.new_batch)
    undoes: str | None = None
    changes: list[Change] = field(default_factory=list)

    def load(self, chunk_id: int, if_match: str | None = None) -> Chunk:
        """Read a row inside the transaction. Raises NotFound, and Stale where `if_match` is another version."""
        found = self.load_many(Where("c.id = ?", (chunk_id,)))
        if not found:
            raise NotFound(f"there is no chunk {chunk_id}")
        if if_match is not None and if_match != found[0].version:
            raise Stale(f"chunk {chunk_id} was changed since it was read; read it again")
        return found[0]

    def load_many(self, where: Where) -> list[Chunk]:
        return select(where, "ORDER BY c.id", now=self.now)

    def insert(self, values: Values, action: str, note: str | None = None) -> Chunk:
        """Add a row; what is missing among `values` is NULL."""
        row = ChunkRow.objects.create(**values, created_at=self.now, updated_at=self.now)
        self.changes.append(Change(row.pk, action, after=_without_text(values), note=note))
        return self.load(row.pk)

    def update(self, chunk: Chunk, action: str, note: str | None = None, **after: Any) -> Chunk:
        """Change attributes of one row."""
        self.update_many([chunk], action, note, **after)
        return self.load(chunk.id)

    def update_many(
        self, chunks: Sequence[Chunk], action: str, note: str | None = None, **after: Any
    ) -> None:
        """Give the same attributes to many rows."""
        columns = ", ".join(f"{name} = ?" for name in after)
        execute_each(
            KNOWLEDGE,
            f"UPDATE chunks SET {columns}, updated_at = ? WHERE id = ?",
            ((*after.values(), self.now, chunk.id) for chunk in chunks),
        )
        self.changes += [
            Change(chunk.id, action, {name: getattr(chunk, name) for name in after}, dict(after), note)
            for chunk in chunks
        ]

    def supersede(self, old: Chunk, successor: Chunk) -> None:
        """Mark a row as replaced by another that has already landed."""
        reason = f"superseded_by:{successor.id}"
        self.update(old, "superseded", invalidated_at=self.now, invalidation_reason=reason)

    def delete_many(self, chunks: Sequence[Chunk], action: str, note: str | None = None) -> None:
        """Remove rows for good, with their vectors and links; the triggers remove them from the index."""
        ids = [(chunk.id,) for chunk in chunks]
        for table, column in (("chunk_vectors", "chunk_id"), ("pc_links", "chunk_id"), ("chunks", "id")):
            execute_each(KNOWLEDGE, f"DELETE FROM {table} WHERE {column} = ?", ids)
        self.changes += [
            Change(chunk.id, action, before=_without_text(_stored(chunk)), note=note) for chunk in chunks
        ]

    def link(self, chunk: Chunk, relation: Relation, target_id: int) -> None:
        LinkRow.objects.update_or_create(
            chunk_id=chunk.id, defaults={"relation": relation, "target_id": target_id}
        )

    def proposals_among(self, chunks: Sequence[Chunk]) -> dict[int, int]:
        """Tell which of the rows are proposals, and what each would supersede."""
        found: dict[int, int] = {}
        for part in batches([chunk.id for chunk in chunks]):
            links = LinkRow.objects.filter(chunk_id__in=part, relation=Relation.PROPOSES)
            found |= links.values_list("chunk_id", "target_id")
        return found

    def summary(self, action: str) -> Batch:
        return Batch(self.batch, action, len(self.changes), self.now)


@contextmanager
def change_set(by: Actor, *, undoes: str | None = None) -> Iterator[ChangeSet]:
    """Open a transaction for changes; on leaving, audit and index are brought up to date inside it."""
    with write_transaction(KNOWLEDGE):
        work = ChangeSet(by, to_iso(timezone.now()), undoes=undoes)
        yield work
        audit.record(work.changes, batch=work.batch, by=by, at=work.now, undoes=undoes)
        catch_up.drain()


def require_operator(by: Actor) -> None:
    """Raise Forbidden unless an operator asks: agents and plugins have no such call."""
    if not by.is_operator:
        raise Forbidden("only an operator may do this")


def refuse_gone(chunk: Chunk) -> None:
    """Raise Conflict for a row that has been replaced or deleted."""
    if chunk.superseded_by:
        raise Conflict(f"chunk {chunk.id} was replaced by #{chunk.superseded_by}; change that one")
    if chunk.invalidated_at is not None and chunk.invalidation_reason != "rejected":
        raise Conflict(f"chunk {chunk.id} is no longer valid ({chunk.invalidation_reason or 'superseded'})")


def _stored(chunk: Chunk) -> Values:
    return {name: getattr(chunk, name) for name in COLUMNS}


def _without_text(values: Values) -> Values:
    return {name: audit.digest_of(value) if name in _TEXT else value for name, value in values.items()}
