"""Reads the sessions that have a summary, each with the line that a digest tells of it and why it may not."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from knowledge.errors import Invalid, NotFound
from knowledge.times import parse_iso
from knowledge.types import DEFAULT_PAGE, Page
from memory import digest, session_index
from memory.envelope.frames import SEPARATOR
from memory.envelope.render import session_line
from memory.models import DeletedSummary, IndexedSession
from memory.types import Absence, Summary, Unreadable
from protoconsole.session_ids import is_session_id

MOST_FOUND = 50
MOST_DELETED = 20
_BETWEEN = "~"  # stands in no moment and in no session id


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session with a summary file of `size` bytes.

    `told` is the line of the digest, word for word: its id, timestamp, surface, topic and messages. An
    unreadable file has none, and a `fault`. `preview` are the words around a match.
    """

    session_id: str
    timestamp: str
    size: int
    file_name: str
    told: Sequence[str]
    absence: Absence | None
    fault: str = ""
    preview: str = ""


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A session with what its file says."""

    listed: ListedSession
    content: Summary | Unreadable


@dataclass(frozen=True, slots=True)
class DeletedSession:
    """A session whose summary can still be brought back."""

    session_id: str
    at: datetime
    by: str


def browse(*, cursor: str = "", limit: int = DEFAULT_PAGE) -> Page[ListedSession]:
    """List all sessions, newest first. Raises Invalid for a cursor that no list gave."""
    session_index.sync()
    rows = session_index.browse(limit + 1, _before(cursor))
    last = rows[limit - 1] if len(rows) > limit else None
    return Page(_listed(rows[:limit]), f"{last.timestamp}{_BETWEEN}{last.session_id}" if last else None)


def found(query: str, limit: int = MOST_FOUND) -> list[ListedSession]:
    """Find the sessions that share most words with a query, best first. Raises SearchBroken."""
    previews = {hit.session.session_id: hit.preview for hit in digest.search(query, limit)}
    rows = {row.session_id: row for row in IndexedSession.objects.filter(session_id__in=previews)}
    return _listed([rows[session_id] for session_id in previews if session_id in rows], previews)


def opened(session_id: str) -> OpenedSession:
    """Read one session. Raises NotFound where it has no summary."""
    session_index.sync()
    row, content = session_index.find(session_id), digest.read(session_id)
    if row is None or content is None:
        raise NotFound(f"the session {session_id} has no summary")
    return OpenedSession(_listed([row])[0], content)


def deleted() -> list[DeletedSession]:
    """List the summaries that were deleted last and can be brought back, newest first."""
    rows = DeletedSummary.objects.order_by("-at", "session_id")[:MOST_DELETED]
    return [DeletedSession(row.session_id, row.at, row.by) for row in rows]


def _listed(rows: Sequence[IndexedSession], previews: dict[str, str] | None = None) -> list[ListedSession]:
    absences = digest.absences(rows)
    return [
        ListedSession(
            session_id=row.session_id,
            timestamp=row.timestamp,
            size=row.size,
            file_name=row.file_name,
            told=session_line(row.candidate).split(SEPARATOR) if row.readable else (),
            absence=absences[row.session_id],
            fault=row.reason,
            preview=(previews or {}).get(row.session_id, ""),
        )
        for row in rows
    ]


def _before(cursor: str) -> tuple[str, str] | None:
    if not cursor:
        return None
    moment, _, session_id = cursor.partition(_BETWEEN)
    if parse_iso(moment) is None or not is_session_id(session_id):
        raise Invalid("cursor", f"{cursor[:40]!r} was not given by this list; leave it out to start anew")
    return moment, session_id
