"""Proves that what is derived from the rows is exactly what the rows say, and builds it anew where not."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import zip_longest
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from knowledge import adoption, catch_up, schema
from knowledge.fact_index import entries_of, is_indexed
from knowledge.rows import READABLE_EXPIRY, SELECTED, as_text, chunk_of
from knowledge.search import fts5
from knowledge.times import parse_iso, to_iso
from knowledge.types import Chunk
from protoconsole.databases import KNOWLEDGE, fetch, rows_of, snapshot, write_transaction
from protoconsole.findings import Finding, Level, found

REPAIR = "run: manage.py doctor --repair"


def examine() -> list[Finding]:
    """Check the knowledge store: file, triggers, counts, index, facts, and cells that cannot be read."""
    while catch_up.catch_up():
        pass
    with snapshot(KNOWLEDGE):
        return [_file(), _triggers(), _counts(), _index(), _facts(), _expiries()]


def repair() -> None:
    """Build all that is derived from the rows anew; the rows themselves are never touched."""
    with write_transaction(KNOWLEDGE):
        adoption.rebuild_derived()
    while catch_up.catch_up():
        pass


def _file() -> Finding:
    faults = [row[0] for row in fetch(KNOWLEDGE, "PRAGMA integrity_check(5)")]
    mend = "stop all programs and restore the store from a copy"
    return found("store file", [] if faults == ["ok"] else faults, well="integrity check passed", mend=mend)


def _triggers() -> Finding:
    standing = adoption.is_derived_current()
    return found(
        "triggers", [] if standing else ["missing or of another version"], well="all stand", mend=REPAIR
    )


def _counts() -> Finding:
    faults = [
        f"{name} differ from the rows"
        for name, kept, now in (
            ("the counts", schema.COUNTS_KEPT, schema.COUNTS_NOW),
            ("the totals", schema.TOTALS_KEPT, schema.TOTALS_NOW),
            ("the counts of sources", schema.SOURCES_KEPT, schema.SOURCES_NOW),
        )
        if Counter(fetch(KNOWLEDGE, kept)) != Counter(fetch(KNOWLEDGE, now))
    ]
    return found("counts", faults, well="equal to the rows", mend=REPAIR)


def _index() -> Finding:
    if not fts5.available():
        return Finding("search index", Level.OK, "not in use: this SQLite has no FTS5, so LIKE answers")
    try:
        difference = _first_difference(_indexed_terms(), _expected_terms())
    except DatabaseError as error:
        return found("search index", [f"cannot be read ({error})"], well="", mend=REPAIR)
    faults = [f"row {difference} is not indexed as it stands"] if difference is not None else []
    return found("search index", faults, well="holds exactly the words of the rows", mend=REPAIR)


def _facts() -> Finding:
    waiting = _waiting()
    kept = fetch(KNOWLEDGE, "SELECT namespace, token, size, chunk_id FROM pc_fact_tokens ORDER BY 1, 2, 3, 4")
    kept = [entry for entry in kept if entry[-1] not in waiting]
    facts = (chunk for chunk in _chunks() if is_indexed(chunk) and chunk.id not in waiting)
    expected = sorted(entry for chunk in facts for entry in entries_of(chunk))
    return found(
        "index of facts", [] if kept == expected else ["differs from the rows"], well="exact", mend=REPAIR
    )


def _expiries() -> Finding:
    rows = fetch(
        KNOWLEDGE, "SELECT id, expires_at FROM chunks WHERE expires_at IS NOT NULL AND expires_at <> ''"
    )
    unreadable = [
        f"#{row_id}: {text!r}"
        for row_id, text in rows
        if not READABLE_EXPIRY.fullmatch(text) or parse_iso(text) is None
    ]
    return found(
        "expiry times", unreadable[:5], well="all can be read", mend="set the expiry of these rows anew"
    )


def _chunks() -> Iterator[Chunk]:
    now = to_iso(timezone.now())
    for row in rows_of(KNOWLEDGE, f"SELECT {SELECTED} FROM chunks AS c ORDER BY c.id"):
        yield chunk_of(row, now=now)


Term = tuple[str, int, str, int]
_TERMS = "SELECT term, doc, col, offset FROM temp.pc_terms ORDER BY term, doc, col, offset"


def _indexed_terms() -> Iterator[Term]:
    fetch(KNOWLEDGE, "DROP TABLE IF EXISTS temp.pc_terms")
    fetch(KNOWLEDGE, "CREATE VIRTUAL TABLE temp.pc_terms USING fts5vocab(main, pc_search, instance)")
    try:
        yield from rows_of(KNOWLEDGE, _TERMS)
    finally:
        fetch(KNOWLEDGE, "DROP TABLE IF EXISTS temp.pc_terms")


def _expected_terms() -> Iterator[Term]:
    """Index the rows once more, on the side, with the same tokenizer."""
    with closing(sqlite3.connect("")) as aside:  # a temporary file, not memory: a store may be large
        aside.execute(fts5.CREATE)
        aside.executemany(fts5.ADD, ((row_id, *fts5.prepared(text)) for row_id, text in _indexed_texts()))
        aside.execute("CREATE VIRTUAL TABLE temp.pc_terms USING fts5vocab(main, pc_search, instance)")
        yield from aside.execute(_TERMS)


def _indexed_texts() -> Iterator[tuple[int, fts5.Text]]:
    """Give what the index should hold: of rows that wait to be indexed, what they were before."""
    waiting = _waiting()
    for chunk in _chunks():
        if chunk.id not in waiting:
            yield chunk.id, fts5.Text(chunk.heading, chunk.content)
    for row_id, old in waiting.items():
        if old:
            yield row_id, old


def _waiting() -> dict[int, fts5.Text | None]:
    rows = fetch(KNOWLEDGE, "SELECT chunk_id, indexed, heading, content FROM pc_dirty")
    return {row_id: fts5.Text(*map(as_text, text)) if indexed else None for row_id, indexed, *text in rows}


def _first_difference(found: Iterable[Any], expected: Iterable[Any]) -> int | None:
    for left, right in zip_longest(found, expected):
        if left != right:
            return int((left or right)[1])
    return None
