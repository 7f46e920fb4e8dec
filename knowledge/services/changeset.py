"""The one way to change rows: a transaction that keeps index, counts and audit trail with the rows."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from knowledge import audit, catch_up
from knowledge.audit import Change, Values
from knowledge.errors import Conflict, Forbidden, NotFound, Stale
from knowledge.models import ChunkRow
from knowledge.rows import COLUMNS, batches, select
from knowledge.search.filters import Where
from knowledge.times import to_iso
from knowledge.types import REJECTED_REASON, Batch, Chunk, Relation, Verdict, superseded_reason
from protoconsole.actors import Actor
from protoconsole.databases import KNOWLEDGE, execute_each, fetch, write_transaction
from protoconsole.instance import current

_TEXT = ("content", "heading")
_REMOVED_WITH_A_ROW = (
    ("chunk_vectors", "chunk_id"),
    ("pc_links", "chunk_id"),
    ("pc_links", "target_id"),
    ("chunks", "id"),
)


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

    def load_lean(self, where: Where) -> list[Chunk]:
        """Read rows without their content, for changes of many rows that leave the text alone."""
        return select(where, "ORDER BY c.id", now=self.now, lean=True)

    def insert(self, values: Values, action: str, note: str | None = None) -> Chunk:
        """Add a row; what is missing among `values` is NULL."""
        stored = values | _stamp(values, self.now)
        row = ChunkRow.objects.create(**stored, created_at=self.now, updated_at=self.now)
        self.changes.append(Change(row.pk, action, after=_without_text(stored), note=note))
        return self.load(row.pk)

    def update(self, chunk: Chunk, action: str, note: str | None = None, **after: Any) -> Chunk:
        """Change attributes of one row."""
        self.update_many([chunk], action, note, **after)
        return self.load(chunk.id)

    def update_many(
        self, chunks: Sequence[Chunk], action: str, note: str | None = None, **after: Any
    ) -> None:
        """Give the same attributes to many rows; what follows from them may differ from row to row."""
        groups: dict[tuple[tuple[str, Any], ...], list[Chunk]] = {}
        for chunk in chunks:
            groups.setdefault(tuple((after | _stamp(_stored(chunk) | after, self.now)).items()), []).append(
                chunk
            )
        for settled, group in groups.items():
            self._set(group, action, note, dict(settled))

    def _set(self, chunks: Sequence[Chunk], action: str, note: str | None, after: Values) -> None:
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
        self.update(
            old, "superseded", invalidated_at=self.now, invalidation_reason=superseded_reason(successor.id)
        )

    def superseded_by(self, chunks: Sequence[Chunk]) -> dict[int, list[Chunk]]:
        """Find the rows that each of some rows has taken the place of."""
        found: dict[int, list[Chunk]] = {}
        for part in batches([superseded_reason(chunk.id) for chunk in chunks]):
            marks = ", ".join("?" * len(part))
            for old in self.load_lean(Where(f"c.invalidation_reason IN ({marks})", tuple(part))):
                found.setdefault(old.superseded_by or 0, []).append(old)
        return found

    def delete_many(self, chunks: Sequence[Chunk], action: str, note: str | None = None) -> None:
        """Remove rows for good, with their vectors and links; the triggers remove them from the index."""
        ids = [(chunk.id,) for chunk in chunks]
        for table, column in _REMOVED_WITH_A_ROW:
            execute_each(KNOWLEDGE, f"DELETE FROM {table} WHERE {column} = ?", ids)
        self.changes += [
            Change(chunk.id, action, before=_without_text(_stored(chunk)), note=note) for chunk in chunks
        ]

    def link(self, chunk: Chunk, relation: Relation, target_id: int) -> None:
        sql = "INSERT OR REPLACE INTO pc_links (chunk_id, relation, target_id) VALUES (?, ?, ?)"
        fetch(KNOWLEDGE, sql, (chunk.id, relation, target_id))

    def proposals_among(self, chunks: Sequence[Chunk]) -> dict[int, int]:
        """Tell which of the rows are proposals, and what each would supersede."""
        found: dict[int, int] = {}
        for part in batches([chunk.id for chunk in chunks]):
            marks = ", ".join("?" * len(part))
            sql = f"SELECT chunk_id, target_id FROM pc_links WHERE relation = ? AND chunk_id IN ({marks})"
            found |= dict(fetch(KNOWLEDGE, sql, (Relation.PROPOSES, *part)))
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
        catch_up.drain_rows({change.chunk_id for change in work.changes})


def require_operator(by: Actor) -> None:
    """Raise Forbidden unless an operator asks: agents and plugins have no such call."""
    if not by.is_operator:
        raise Forbidden("only an operator may do this")


def refuse_gone(chunk: Chunk) -> None:
    """Raise Conflict for a row that has been replaced or deleted."""
    if chunk.superseded_by:
        raise Conflict(f"chunk {chunk.id} was replaced by #{chunk.superseded_by}; change that one")
    if chunk.invalidated_at is not None and chunk.invalidation_reason != REJECTED_REASON:
        raise Conflict(f"chunk {chunk.id} is no longer valid ({chunk.invalidation_reason or 'superseded'})")


def _stamp(values: Values, now: str) -> Values:
    """Take rejected rows out of use for a program that ignores verdicts, where configured; clear that stamp alone."""
    invalidated_at, reason = values.get("invalidated_at"), values.get("invalidation_reason")
    if values.get("review_state") == Verdict.REJECTED:
        if invalidated_at is None and current().config.knowledge.reject_invalidates:
            return {"invalidated_at": now, "invalidation_reason": REJECTED_REASON}
    elif reason == REJECTED_REASON:
        return {"invalidated_at": None, "invalidation_reason": None}
    return {}


def _stored(chunk: Chunk) -> Values:
    return {name: getattr(chunk, name) for name in COLUMNS}


def _without_text(values: Values) -> Values:
    return {name: audit.digest_of(value) if name in _TEXT else value for name, value in values.items()}
