"""Delete the summary of a session, and bring it back while that is possible."""

from datetime import timedelta

from django.utils import timezone

from knowledge.errors import Conflict, NotFound
from memory import session_index, summaries
from memory.folder import Folder
from memory.models import DeletedSummary
from protoconsole.actors import Actor
from protoconsole.databases import CONSOLE, write_transaction
from protoconsole.instance import current

KEPT_FOR = timedelta(hours=24)
FOLDER = ".deleted"


def delete(session_id: str, by: Actor) -> None:
    """Take away a session's file, its row in the index and its line in the digest, all at once.

    Raises Invalid for what is no session id, NotFound where it has no summary.
    """
    name, *older = _names(session_id)
    with write_transaction(CONSOLE):  # noted first, so that no file can lie in the folder and be forgotten
        DeletedSummary.objects.update_or_create(
            session_id=session_id, defaults={"file_name": name, "at": timezone.now(), "by": by.name}
        )
    with write_transaction(CONSOLE):
        session_index.note_removed(session_id)
        summaries.folder().move(name, _deleted().path)
        for old_name in older:
            summaries.folder().remove(old_name)


def restore(session_id: str) -> None:
    """Bring back a deleted summary.

    Raises NotFound when it is not kept any more, Conflict when the session has a new summary by now.
    """
    kept = DeletedSummary.objects.filter(session_id=session_id).first()
    if kept is None or kept.file_name not in _deleted().names():
        raise NotFound(f"the summary of {session_id} is not kept any more")
    where = summaries.folder()
    with write_transaction(CONSOLE):
        if set(summaries.possible_names(session_id)) & set(where.names()):
            raise Conflict(f"the session {session_id} has a new summary by now")
        _deleted().move(kept.file_name, where.path)
        content = summaries.read_file(where, kept.file_name, session_id)
        if content is not None:
            session_index.note_written(where.entry(kept.file_name), content)
        kept.delete()


def sweep_deleted() -> int:
    """Remove for good what was deleted a day ago or earlier; return how many."""
    lapsed = list(DeletedSummary.objects.filter(at__lte=timezone.now() - KEPT_FOR))
    for name in (name for kept in lapsed for name in summaries.possible_names(kept.session_id)):
        _deleted().remove(name)
    if lapsed:
        with write_transaction(CONSOLE):
            DeletedSummary.objects.filter(pk__in=[kept.pk for kept in lapsed]).delete()
    return len(lapsed)


def _names(session_id: str) -> list[str]:
    """Name the files that a session has, as the disk spells them."""
    there = set(summaries.folder().names())
    names = [name for name in summaries.possible_names(session_id) if name in there]
    if not names or (summaries.folder().path / names[0]).is_dir():
        raise NotFound(f"the session {session_id} has no summary")
    return names


def _deleted() -> Folder:
    return Folder(current().paths.instance_root / FOLDER)
