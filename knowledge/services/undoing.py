"""Takes back a change, while the rows still are what the change made of them."""

from typing import Any

from knowledge import audit
from knowledge.errors import Conflict
from knowledge.services.changeset import ChangeSet, change_set, require_operator
from knowledge.types import AuditEntry, Batch, superseded_reason
from protoconsole.actors import Actor


def undo(batch: str, by: Actor) -> Batch:
    """Restore what every row of a batch was before it; itself a change that can be undone.

    A revision is taken back by superseding it with the row that it had replaced: history is never deleted.
    Raises Forbidden, NotFound, and Conflict where a row has changed since or a change is final.
    """
    require_operator(by)
    with change_set(by, undoes=batch) as work:
        for entry in reversed(audit.of_batch(batch)):
            _take_back(work, entry)
        return work.summary("undone")


def _take_back(work: ChangeSet, entry: AuditEntry) -> None:
    chunk = work.load(entry.chunk_id) if entry.after else None
    if chunk is None:
        raise Conflict(f"#{entry.chunk_id} was deleted for good; that cannot be undone")
    if entry.before:
        _refuse_changed(chunk, entry.after)
        work.update(chunk, "undone", f"undoes: {entry.action}", **entry.before)
        return
    replaced = [other for other in audit.of_batch(entry.batch) if other.action == "superseded"]
    if not replaced or chunk.invalidated_at is not None:
        raise Conflict(f"#{chunk.id} cannot be undone; reject or delete it")
    work.update(
        chunk,
        "undone",
        f"undoes: {entry.action}",
        invalidated_at=work.now,
        invalidation_reason=superseded_reason(replaced[0].chunk_id),
    )


def _refuse_changed(chunk: Any, after: dict[str, object]) -> None:
    changed = sorted(name for name, value in after.items() if getattr(chunk, name) != value)
    if changed:
        raise Conflict(f"#{chunk.id} has changed since ({', '.join(changed)}); nothing was undone")
