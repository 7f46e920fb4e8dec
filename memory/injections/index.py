"""Keeps the index of turns up with the log, also with rows that another program appends.

Everything up to the id in `INDEXED_TO` is indexed. A row of our own is indexed as it is written; what another
program appended is caught up before a read, and a long backlog by the maintenance work. Indexing a row twice
changes nothing.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from memory.injections import given, meta
from memory.injections.moments import micros_of_text
from memory.injections.rows import SELECTED, Ids, ids_of
from memory.injections.schema import INDEXED_TO
from memory.injections.types import Index
from memory.types import Delivered, Ref
from protoconsole.databases import INJECTIONS, LOCK_TIMEOUT_S, execute_each, fetch, write_transaction
from protoconsole.errors import StoreBusy

BATCH = 500
BEFORE_A_READ = 10  # batches; a longer backlog is left to the maintenance work
READ_PATIENCE_S = 0.2

Entry = tuple[int, Ref, int, int]

_ENTER = "INSERT OR IGNORE INTO pc_injection_items (kind, ref, at, injection_id) VALUES (?, ?, ?, ?)"
_LEAVE = "DELETE FROM pc_injection_items WHERE kind = ? AND ref = ? AND at = ? AND injection_id = ?"


def entries_of(row: Ids) -> Iterator[Entry]:
    """Give every key under which a row is found."""
    at = micros_of_text(row.ts)
    yield Index.TURN, "", at, row.id
    if row.session_id:
        yield Index.SESSION, row.session_id, at, row.id
    for ref in dict.fromkeys((*row.hot, *row.rag)):
        yield Index.CHUNK, ref, at, row.id
    for ref in dict.fromkeys(row.digest):
        yield Index.DIGEST, ref, at, row.id


def enter_own(row: Ids, delivered: Iterable[Delivered]) -> None:
    """Index a row in the transaction that writes it."""
    execute_each(INJECTIONS, _ENTER, entries_of(row))
    given.enter_own(row, delivered)
    if indexed_to() == row.id - 1:
        meta.put(INDEXED_TO, str(row.id))


def leave(row: Ids) -> None:
    """Take a row that is being pruned out of the index; needs the same write transaction.

    What its session was given stays known until the last turn of that session is gone.
    """
    execute_each(INJECTIONS, _LEAVE, entries_of(row))
    session = row.session_id
    still = "SELECT 1 FROM pc_injection_items WHERE kind = ? AND ref = ? LIMIT 1"
    if session and not fetch(INJECTIONS, still, (Index.SESSION, session)):
        given.leave(session)


def indexed_to() -> int:
    return int(meta.get(INDEXED_TO) or 0)


def is_behind() -> bool:
    [(newest,)] = fetch(INJECTIONS, "SELECT COALESCE(MAX(id), 0) FROM injections")
    return int(newest) > indexed_to()


def pending() -> int:
    """Count the rows that the index has not caught up with."""
    return int(fetch(INJECTIONS, "SELECT COUNT(*) FROM injections WHERE id > ?", (indexed_to(),))[0][0])


def catch_up(limit: int = BATCH, *, patience: float = LOCK_TIMEOUT_S) -> int:
    """Index at most `limit` rows in one transaction and say how many that were.

    Raises StoreBusy when the write lock cannot be had within `patience` seconds.
    """
    if not is_behind():
        return 0
    with write_transaction(INJECTIONS, patience):
        sql = f"SELECT {SELECTED}, pc_seq FROM injections WHERE id > ? ORDER BY id LIMIT ?"
        rows = fetch(INJECTIONS, sql, (indexed_to(), limit))
        if rows:
            entries = (entry for row in rows for entry in entries_of(ids_of(row)))
            # Neighbours of the index one after the other, so that each of its pages is written once.
            execute_each(INJECTIONS, _ENTER, sorted(entries, key=lambda e: (e[0], str(e[1]), *e[2:])))
            given.enter_others(ids_of(row) for row in rows if row[6] is None)
            meta.put(INDEXED_TO, str(rows[-1][0]))
    return len(rows)


def before_reading() -> None:
    """Take in what other programs wrote, unless the log is busy or they wrote very much."""
    with suppress(StoreBusy):
        for _ in range(BEFORE_A_READ):
            if catch_up(patience=READ_PATIENCE_S) < BATCH:
                return


def rebuild() -> None:
    """Forget the index and queue every row for it; what sessions were given stays."""
    with write_transaction(INJECTIONS):
        fetch(INJECTIONS, "DELETE FROM pc_injection_items")
        fetch(INJECTIONS, "DELETE FROM pc_injection_counts")
        meta.put(INDEXED_TO, "0")
    while catch_up():
        pass
