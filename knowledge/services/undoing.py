"""Takes back a change, while the rows still are what the change made of them."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace

from knowledge import audit
from knowledge.audit import Values
from knowledge.errors import Conflict
from knowledge.rows import batches
from knowledge.search.filters import Where
from knowledge.services.changeset import ChangeSet, change_set, require_operator
from knowledge.types import AuditEntry, Batch, Chunk, superseded_reason
from protoconsole.actors import Actor


@dataclass(slots=True)
class _Net:
    """What all changes of one batch did to one row."""

    before: Values = field(default_factory=dict)
    after: Values = field(default_factory=dict)
    born: bool = False


def undo(batch: str, by: Actor) -> Batch:
    """Restore what the rows of a batch were before it; itself a change that can be undone.

    Where each row was changed for itself, as by a bulk verdict, rows that have changed or gone since are
    skipped and named. Changes that hang together are undone as one or not at all. A revision is taken back
    by superseding it with the row that it had replaced: history is never deleted.
    Raises Forbidden, NotFound, and Conflict where nothing can be undone; then nothing is.
    """
    require_operator(by)
    with change_set(by, undoes=batch) as work:
        entries = audit.of_batch(batch)
        nets = _nets(entries)
        rows = _load(work, list(nets))
        stuck = {**_gone(rows, nets), **_changed(rows, nets, entries[-1].id)}
        if stuck and (len(stuck) == len(nets) or _hang_together(entries)):
            raise Conflict(f"{next(iter(stuck.values()))}; nothing was undone")
        free = {row_id: chunk for row_id, chunk in rows.items() if row_id not in stuck}
        _restore(work, free, nets, entries)
        return replace(work.summary("undone"), skipped=sorted(stuck))


def _hang_together(entries: Iterable[AuditEntry]) -> bool:
    return any(entry.action in ("superseded", "restored") or not entry.before for entry in entries)


def _restore(
    work: ChangeSet, rows: dict[int, Chunk], nets: dict[int, _Net], entries: Sequence[AuditEntry]
) -> None:
    action = f"undoes: {entries[0].action}"
    for restored, chunks in _grouped(rows, nets):
        work.update_many(chunks, "undone", action, **dict(restored))
    for chunk in rows.values():
        if nets[chunk.id].born:
            _take_back_birth(work, chunk, entries, action)


def _nets(entries: Iterable[AuditEntry]) -> dict[int, _Net]:
    nets: dict[int, _Net] = {}
    for entry in entries:
        if not entry.after:
            raise Conflict(f"#{entry.chunk_id} was deleted for good; nothing can bring it back")
        net = nets.setdefault(entry.chunk_id, _Net())
        net.born = net.born or not entry.before
        net.before = entry.before | net.before
        net.after |= entry.after
    return nets


def _load(work: ChangeSet, ids: Sequence[int]) -> dict[int, Chunk]:
    rows: dict[int, Chunk] = {}
    for part in batches(ids):
        marks = ", ".join("?" * len(part))
        rows |= {chunk.id: chunk for chunk in work.load_lean(Where(f"c.id IN ({marks})", tuple(part)))}
    return rows


def _gone(rows: Container[int], nets: Iterable[int]) -> dict[int, str]:
    return {row_id: f"#{row_id} was deleted for good" for row_id in nets if row_id not in rows}


def _changed(rows: dict[int, Chunk], nets: dict[int, _Net], last_entry: int) -> dict[int, str]:
    """Say which rows have changed since; a later change stands, even one that ended at the same values."""
    found: dict[int, str] = {}
    for part in batches(list(rows)):
        later = audit.changed_since(part, last_entry)
        for row_id in part:
            net, chunk = nets[row_id], rows[row_id]
            touched = {name for name in net.before if name in later.get(row_id, ())}
            touched |= {name for name in net.before if getattr(chunk, name) != net.after[name]}
            if touched:
                found[row_id] = f"#{row_id} has changed since ({', '.join(sorted(touched))})"
    return found


def _grouped(
    rows: dict[int, Chunk], nets: dict[int, _Net]
) -> Iterable[tuple[tuple[tuple[str, object], ...], list[Chunk]]]:
    groups: dict[tuple[tuple[str, object], ...], list[Chunk]] = {}
    for chunk in rows.values():
        net = nets[chunk.id]
        if net.before and not net.born:
            groups.setdefault(tuple(sorted(net.before.items())), []).append(chunk)
    return groups.items()


def _take_back_birth(work: ChangeSet, chunk: Chunk, entries: Sequence[AuditEntry], action: str) -> None:
    replaced = [entry.chunk_id for entry in entries if entry.action == "superseded"]
    if not replaced or chunk.invalidated_at is not None:
        raise Conflict(f"#{chunk.id} cannot be undone; reject or delete it")
    reason = superseded_reason(replaced[0])
    work.update(chunk, "undone", action, invalidated_at=work.now, invalidation_reason=reason)
