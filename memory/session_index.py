"""What the console knows of every session without opening its file, following the folder lazily.

A turn looks at the folder's own time stamp. Only when that has moved is the folder listed, and only files
that are new or changed are opened. The stamp is remembered once it is old enough that a change in the same
tick of the disk's clock would show; until then the next call lists the folder again. Files that were changed
in place move no stamp: `deep_sync` finds those.

A sync changes the index in short transactions, each bound to the version that it began with, so that one
which is overtaken by another, or by a summary that we write or delete ourselves, gives up and changes no more.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.db import DatabaseError
from django.db.models import F, Q, QuerySet

from knowledge.search.words import index_text
from knowledge.times import to_iso
from memory import summaries
from memory.folder import Entry, Folder
from memory.models import IndexedSession, IndexState
from memory.surfaces import is_background, surface_of, topic_of
from memory.types import Summary, Unreadable
from protoconsole.databases import CONSOLE, LOCK_TIMEOUT_S, execute_each, fetch, write_transaction
from protoconsole.errors import StoreBusy

MOST_AT_ONCE = 50  # files that a turn reads, a few milliseconds each
PATIENCE_S = 0.05  # of a turn, which rather has an old index than waits
SETTLED_NS = 2 * 10**9  # as coarse as the time stamps of any disk in use
FILES_AT_ONCE = 500
MAX_INDEXED_CHARS = 1_000_000
STATE = "SELECT folder_stamp, version FROM memory_indexstate WHERE id = 1"
KNOWN = "SELECT session_id, file_name, mtime_ns, size, inode FROM memory_indexedsession"
DROP_WORDS = "DELETE FROM memory_session_words WHERE rowid = ?"
ADD_WORDS = "INSERT INTO memory_session_words (rowid, words) VALUES (?, ?)"

_FIELDS = (
    "file_name", "mtime_ns", "size", "inode", "timestamp", "surface", "topic", "message_count", "background",
    "readable", "reason",
)  # fmt: skip

_log = logging.getLogger("protoconsole.sessions")


class _Overtaken(Exception):
    """Somebody else changed the index meanwhile."""


def sync() -> None:
    """Follow the folder when its time stamp says that it changed; else this is one look at the stamp.

    Of many new files the newest are read, so that no turn waits long; `deep_sync` reads the rest. An index
    that cannot be brought up to date just now stays as it is.
    """
    try:
        if summaries.folder().stamp() != _state().folder_stamp:
            _follow(PATIENCE_S, MOST_AT_ONCE)
    except (StoreBusy, DatabaseError, OSError) as fault:  # a full store says DatabaseError
        _log.warning("the session index stays as it was: %s", fault)


def deep_sync() -> int:
    """Compare every file with what is known of it; return how many sessions changed."""
    return _follow(LOCK_TIMEOUT_S)


def version() -> int:
    """Return a number that grows with every change of the index."""
    return _state().version


def newest(limit: int) -> list[IndexedSession]:
    """Read the newest sessions that a digest may name."""
    return list(_by_age(IndexedSession.objects.filter(readable=True, background=False))[:limit])


def browse(limit: int, before: tuple[str, str] | None = None) -> list[IndexedSession]:
    """Read all sessions, readable or not, newest first, from behind a (timestamp, session id)."""
    rows = IndexedSession.objects.all()
    if before is not None:
        moment, session_id = before
        rows = rows.filter(Q(timestamp__lt=moment) | Q(timestamp=moment, session_id__lt=session_id))
    return list(_by_age(rows)[:limit])


def find(session_id: str) -> IndexedSession | None:
    return IndexedSession.objects.filter(session_id=session_id).first()


def present(session_ids: Iterable[str]) -> set[str]:
    """Say which of the sessions have a summary."""
    rows = IndexedSession.objects.filter(session_id__in=list(session_ids))
    return set(rows.values_list("session_id", flat=True))


def note_written(entry: Entry, content: Summary | Unreadable) -> None:
    """Take in a file that we put into the folder; belongs into the transaction of that."""
    _advance()
    _put({entry: content})


def note_removed(session_id: str) -> None:
    """Forget a session whose file we took away; belongs into the transaction of that."""
    _advance()
    _drop([session_id])


def _parts(session_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(session_ids), FILES_AT_ONCE):
        yield session_ids[start : start + FILES_AT_ONCE]


class _State(NamedTuple):
    folder_stamp: int | None
    version: int


def _state() -> _State:
    return _State(*fetch(CONSOLE, STATE)[0])


def _by_age(rows: QuerySet[IndexedSession]) -> QuerySet[IndexedSession]:
    return rows.order_by("-timestamp", "-session_id")


def _follow(patience: float, most: int | None = None) -> int:
    began_ns = time.time_ns()
    where = summaries.folder()
    look = _Look(where, patience, _state().version)
    stamp = where.stamp()
    settled = stamp if began_ns - stamp > SETTLED_NS else None
    try:
        return look.run(settled, most)
    except _Overtaken:
        return 0


class _Look:
    """One look through the folder."""

    def __init__(self, where: Folder, patience: float, seen_version: int) -> None:
        self._where = where
        self._patience = patience
        self._version = seen_version

    def run(self, settled: int | None, most: int | None) -> int:
        """Read the `most` newest of the changed files, or all; return how many sessions changed.

        The folder's stamp is remembered when nothing was left.
        """
        found = summaries.listed(self._where)
        known = _known()
        changed = {session_id: entry for session_id, entry in found.items() if known.get(session_id) != entry}
        gone = [session_id for session_id in known if session_id not in found]
        if most is not None and len(changed) > most:
            newest = sorted(changed, key=lambda session_id: changed[session_id].mtime_ns, reverse=True)[:most]
            changed, settled = {session_id: changed[session_id] for session_id in newest}, None
        for part in _parts(list(changed)):
            self._take_in({session_id: changed[session_id] for session_id in part})
        self._finish(gone, settled)
        return len(changed) + len(gone)

    def _take_in(self, entries: Mapping[str, Entry]) -> None:
        read = dict(self._read(entries))
        with write_transaction(CONSOLE, self._patience):
            self._claim()
            _put(read)

    def _read(self, entries: Mapping[str, Entry]) -> Iterator[tuple[Entry, Summary | Unreadable]]:
        for session_id, entry in entries.items():
            content = summaries.read_file(self._where, entry.name, session_id)
            if content is not None:
                yield entry, content

    def _finish(self, gone: Sequence[str], settled: int | None) -> None:
        if not gone and _state().folder_stamp == settled:
            return
        with write_transaction(CONSOLE, self._patience):
            if gone:
                self._claim()
                _drop(gone)
            self._mine().update(folder_stamp=settled)

    def _claim(self) -> None:
        if not self._mine().update(version=F("version") + 1):
            raise _Overtaken
        self._version += 1

    def _mine(self) -> QuerySet[IndexState]:
        return IndexState.objects.filter(pk=1, version=self._version)


def _advance() -> None:
    IndexState.objects.filter(pk=1).update(version=F("version") + 1)


def _known() -> dict[str, Entry]:
    return {session_id: Entry(*facts) for session_id, *facts in fetch(CONSOLE, KNOWN)}


def _put(read: Mapping[Entry, Summary | Unreadable]) -> None:
    rows = [_row(entry, content) for entry, content in read.items()]
    IndexedSession.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["session_id"], update_fields=_FIELDS
    )
    words = {content.session_id: _words(content) for content in read.values()}
    ids = IndexedSession.objects.filter(session_id__in=words).values_list("session_id", "id")
    by_row = {row_id: words[session_id] for session_id, row_id in ids}
    execute_each(CONSOLE, DROP_WORDS, ((row_id,) for row_id in by_row))
    execute_each(CONSOLE, ADD_WORDS, ((row_id, text) for row_id, text in by_row.items() if text))


def _drop(session_ids: Sequence[str]) -> None:
    for part in _parts(session_ids):
        rows = IndexedSession.objects.filter(session_id__in=part)
        execute_each(CONSOLE, DROP_WORDS, rows.values_list("id"))
        rows.delete()


def _row(entry: Entry, content: Summary | Unreadable) -> IndexedSession:
    session_id = content.session_id
    summary = content if isinstance(content, Summary) else None
    return IndexedSession(
        session_id=session_id,
        file_name=entry.name,
        mtime_ns=entry.mtime_ns,
        size=entry.size,
        inode=entry.inode,
        timestamp=(summary.timestamp if summary else "") or _moment(entry.mtime_ns),
        surface=surface_of(session_id, summary.surface if summary else None),
        topic=topic_of(summary.messages) if summary else "",
        message_count=len(summary.messages) if summary else 0,
        background=is_background(session_id),
        readable=summary is not None,
        reason=content.reason if isinstance(content, Unreadable) else "",
    )


def _moment(mtime_ns: int) -> str:
    return to_iso(datetime.fromtimestamp(mtime_ns // 10**9, UTC))


def _words(content: Summary | Unreadable) -> str:
    if isinstance(content, Unreadable):
        return ""
    text = "\n".join(_said(content))
    return index_text(text[:MAX_INDEXED_CHARS])


def _said(summary: Summary) -> Iterable[str]:
    said = [message.content for message in summary.messages]
    return said if summary.final_output in said else [*said, summary.final_output]
