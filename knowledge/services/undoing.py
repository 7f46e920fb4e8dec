"""Takes back a change, while the rows still are what the change made of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

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
    """Restore what every row of a batch was before it; itself a change that can be undone.

    A revision is taken back by superseding it with the row that it had replaced: history is never deleted.
    Raises Forbidden, NotFound, and Conflict where a row has changed since or a change is final; then nothing
    is undone.
    """
    require_operator(by)
    with change_set(by, undoes=batch) as work:
        entries = audit.of_batch(batch)
        nets = _nets(entries)
        rows = _load(work, nets)
        _refuse_changed(rows, nets, entries[-1].id)
        action = f"undoes: {entries[0].action}"
        for restored, chunks in _grouped(rows, nets):
            work.update_many(chunks, "undone", action, **dict(restored))
        for chunk in rows.values():
            if nets[chunk.id].born:
                _take_back_birth(work, chunk, entries, action)
        return work.summary("undone")


def _nets(entries: Iterable[AuditEntry]) -> dict[int, _Net]:
    nets: dict[int, _Net] = {}
    for entry in entries:
        if not entry.after:
            raise Conflict(f"#{entry.chunk_id} was deleted for good; that cannot be undone")
        net = nets.setdefault(entry.chunk_id, _Net())
        net.born = net.born or not entry.before
        net.before = entry.before | net.before
        net.after |= entry.after
    return nets


def _load(work: ChangeSet, nets: dict[int, _Net]) -> dict[int, Chunk]:
    rows: dict[int, Chunk] = {}
    for part in batches(list(nets)):
        marks = ", ".join("?" * len(part))
        rows |= {chunk.id: chunk for chunk in work.load_lean(Where(f"c.id IN ({marks})", tuple(part)))}
    for missing in nets.keys() - rows.keys():
        raise Conflict(f"#{missing} was deleted for good; that cannot be undone")
    return rows


def _refuse_changed(rows: dict[int, Chunk], nets: dict[int, _Net], last_entry: int) -> None:
    """A later change of the same attributes stands, even one that ended at the same values."""
    for part in batches(list(rows)):
        later = audit.changed_since(part, last_entry)
        for chunk_id in part:
            net, chunk = nets[chunk_id], rows[chunk_id]
            touched = {name for name in net.before if name in later.get(chunk_id, ())}
            touched |= {name for name in net.before if getattr(chunk, name) != net.after[name]}
            if touched:
                raise Conflict(
                    f"#{chunk_id} has changed since ({', '.join(sorted(touched))}); nothing was undone"
                )


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
