"""The table of what sessions were given first: written turn by turn, and told anew from the rows to check it.

An entry whose row was pruned cannot be told anew; it stays while its session has turns.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from memory.injections import texts
from memory.injections.blocks import MEMORY_PARTS, Memory, hashes_of, memories_in
from memory.injections.errors import TextDamaged
from memory.injections.moments import micros_of_text
from memory.injections.rows import SELECTED, Ids, ids_of
from memory.injections.types import Index
from memory.types import Delivered, Ref
from protoconsole.databases import INJECTIONS, execute_each, fetch, rows_of, write_transaction

Entry = tuple[str, Ref, int, int, int | None, str | None]

_COLUMNS = "session_id, ref, at, injection_id, tier, source"
_EARLIEST = """ON CONFLICT (session_id, ref) DO UPDATE SET at = excluded.at,
    injection_id = excluded.injection_id, tier = excluded.tier, source = excluded.source
    WHERE (excluded.at, excluded.injection_id) < (at, injection_id)"""
_GIVE = f"INSERT INTO pc_injection_given ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) {_EARLIEST}"
_TELL = f"INSERT INTO temp.pc_told ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) {_EARLIEST}"
_MAKE_TOLD = """CREATE TEMP TABLE pc_told (session_id TEXT, ref, at INTEGER, injection_id INTEGER, tier INTEGER,
    source TEXT, PRIMARY KEY (session_id, ref)) WITHOUT ROWID"""
_TELL_OF_PRUNED = f"""INSERT INTO temp.pc_told ({_COLUMNS}) SELECT {_COLUMNS} FROM pc_injection_given AS g
    WHERE (injection_id <= ? OR tier IS NULL)
    AND NOT EXISTS (SELECT 1 FROM injections AS i WHERE i.id = g.injection_id)
    AND EXISTS (SELECT 1 FROM pc_injection_items AS i WHERE i.kind = ? AND i.ref = g.session_id) {_EARLIEST}"""
_ROWS = f"SELECT {SELECTED}, pc_seq, CAST(pc_blocks AS BLOB), CAST(pc_beside AS BLOB) FROM injections"
_TOLD, _KEPT = (f"SELECT {_COLUMNS} FROM {name}" for name in ("temp.pc_told", "pc_injection_given"))
_DIFFERENT = f"""SELECT COUNT(*) FROM (SELECT session_id, ref FROM ({_TOLD} EXCEPT {_KEPT})
    UNION SELECT session_id, ref FROM ({_KEPT} EXCEPT {_TOLD}))"""


def enter_own(row: Ids, delivered: Iterable[Delivered]) -> None:
    """Take in a row of our own; needs the transaction that writes it."""
    memories = [(item.ref, item.tier, item.source) for item in delivered if item.part in MEMORY_PARTS]
    execute_each(INJECTIONS, _GIVE, _entries(row, memories))


def enter_others(rows: Iterable[Ids]) -> None:
    """Take in rows of another program, which say nothing of trust; needs a write transaction."""
    execute_each(INJECTIONS, _GIVE, (entry for row in rows for entry in _entries(row, _bare(row))))


def leave(session_id: str) -> None:
    fetch(INJECTIONS, "DELETE FROM pc_injection_given WHERE session_id = ?", (session_id,))


def different(pruned_to: int) -> int:
    """Count the entries that are not as the rows tell; needs a transaction and a whole index.

    `pruned_to` is the last row that pruning took.
    """
    with _told(pruned_to):
        return int(fetch(INJECTIONS, _DIFFERENT)[0][0])


def rebuild(pruned_to: int) -> None:
    """Make the entries what the rows tell. Only proven rows may be believed: the entries are evidence too."""
    with write_transaction(INJECTIONS), _told(pruned_to):
        fetch(INJECTIONS, "DELETE FROM pc_injection_given")
        fetch(INJECTIONS, f"INSERT INTO pc_injection_given ({_COLUMNS}) {_TOLD}")


@contextmanager
def _told(pruned_to: int) -> Iterator[None]:
    """Tell all entries anew into a table of their own for a while."""
    fetch(INJECTIONS, _MAKE_TOLD)
    try:
        execute_each(INJECTIONS, _TELL, _told_by_rows())
        fetch(INJECTIONS, _TELL_OF_PRUNED, (pruned_to, Index.SESSION))
        yield
    finally:
        fetch(INJECTIONS, "DROP TABLE temp.pc_told")


def _told_by_rows() -> Iterator[Entry]:
    @lru_cache(maxsize=10_000)  # most parts are the same from turn to turn
    def read(document: bytes) -> list[Memory]:
        return memories_in(texts.read(document))

    for *row, seq, blocks, beside in rows_of(INJECTIONS, _ROWS):
        ids = ids_of(tuple(row))
        documents = hashes_of((blocks or b"") + (beside or b""))
        yield from _entries(ids, _bare(ids) if seq is None else _memories(ids, documents, read))


def _memories(
    row: Ids, documents: Iterable[bytes], read: Callable[[bytes], list[Memory]]
) -> Iterable[Memory]:
    """Say what a row of our own gave; where its words are damaged, its ids with what was kept of them."""
    try:
        return [memory for document in documents for memory in read(document)]
    except TextDamaged:
        sql = "SELECT ref, tier, source FROM pc_injection_given WHERE session_id = ? AND injection_id = ?"
        kept = {memory[0]: memory for memory in fetch(INJECTIONS, sql, (row.session_id, row.id))}
        return [kept.get(bare[0], bare) for bare in _bare(row)]


def _bare(row: Ids) -> Iterator[Memory]:
    return ((ref, None, None) for ref in (*row.hot, *row.rag))


def _entries(row: Ids, memories: Iterable[Memory]) -> Iterator[Entry]:
    if row.session_id:
        at = micros_of_text(row.ts)
        yield from ((row.session_id, ref, at, row.id, tier, source) for ref, tier, source in memories)
