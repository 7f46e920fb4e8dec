"""The keyword index: an FTS5 table without content, filled with text that `words` prepared.

It needs the old text to forget a row, which the triggers of `knowledge.schema` keep in `pc_dirty`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from django.db import DatabaseError, OperationalError

from knowledge.errors import SearchBroken
from knowledge.reasoning import strip_reasoning
from knowledge.rows import SELECTED, chunk_of
from knowledge.search.filters import Where
from knowledge.search.words import TOKENIZER, index_text, match_expression
from knowledge.types import Chunk
from protoconsole.databases import KNOWLEDGE, execute_each, fetch

INDEX_VERSION = "1"
HEADING_WEIGHT = 2.0

CREATE = f"""CREATE VIRTUAL TABLE pc_search USING fts5(
    heading, content, content='', tokenize="{TOKENIZER}"
)"""
SET_RANK = f"INSERT INTO pc_search (pc_search, rank) VALUES ('rank', 'bm25({HEADING_WEIGHT}, 1.0)')"
ADD = "INSERT INTO pc_search (rowid, heading, content) VALUES (?, ?, ?)"
REMOVE = "INSERT INTO pc_search (pc_search, rowid, heading, content) VALUES ('delete', ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Text:
    """What a row holds that can be searched."""

    heading: str | None
    content: str


@dataclass(frozen=True, slots=True)
class Change:
    """A row to bring up to date: `old` is what the index holds of it, `new` what it should hold."""

    chunk_id: int
    old: Text | None
    new: Text | None


@lru_cache(maxsize=1)
def available() -> bool:
    """Say whether this SQLite was built with FTS5."""
    try:
        fetch(KNOWLEDGE, "SELECT fts5(?)", ("",))
    except OperationalError as error:
        return "no such function" not in str(error)
    return True


def create() -> None:
    """Make an empty index in the place of any earlier one."""
    for statement in ("DROP TABLE IF EXISTS pc_search", CREATE, SET_RANK):
        fetch(KNOWLEDGE, statement)


def reindex(changes: Iterable[Change]) -> None:
    """Bring rows of the index up to date."""
    moved = [change for change in changes if change.old != change.new]
    execute_each(KNOWLEDGE, REMOVE, ((c.chunk_id, *prepared(c.old)) for c in moved if c.old))
    execute_each(KNOWLEDGE, ADD, ((c.chunk_id, *prepared(c.new)) for c in moved if c.new))


def prepared(text: Text) -> tuple[str, str]:
    """Give the words that the index holds of a row: without leaked reasoning."""
    return index_text(strip_reasoning(text.heading or "")), index_text(strip_reasoning(text.content))


def holding(words: Sequence[str]) -> Where:
    """Narrow `chunks AS c` to the rows that hold every word. Raises SearchBroken where there is no index."""
    if not words:
        return Where("0", ())
    with naming_faults():
        fetch(KNOWLEDGE, "SELECT 1 FROM pc_search LIMIT 0")
    expression = " AND ".join(match_expression([word]) for word in dict.fromkeys(words))
    return Where("c.id IN (SELECT rowid FROM pc_search WHERE pc_search MATCH ?)", (expression,))


@contextmanager
def naming_faults() -> Iterator[None]:
    """Turn an error of a statement that uses the index into SearchBroken."""
    try:
        yield
    except DatabaseError as error:
        raise SearchBroken(
            f"the search index cannot answer ({error}); run: manage.py doctor --repair"
        ) from error


def search(words: Sequence[str], where: Where, k: int, *, now: str) -> list[tuple[Chunk, float]]:
    """Find the k best rows under a condition, with their BM25 score (higher is better).

    CROSS JOIN keeps the match outermost: the other order would run it once for each row of the store.
    """
    expression = match_expression(words)
    if not expression:
        return []
    sql = (
        f"SELECT {SELECTED}, -s.rank FROM pc_search AS s CROSS JOIN chunks AS c ON c.id = s.rowid"
        f" WHERE s.pc_search MATCH ? AND {where.sql} ORDER BY s.rank LIMIT ?"
    )
    try:
        rows = fetch(KNOWLEDGE, sql, (expression, *where.params, k))
    except DatabaseError as error:
        raise SearchBroken(
            f"the search index cannot answer ({error}); run: manage.py doctor --repair"
        ) from error
    return [(chunk_of(row[:-1], now=now), row[-1]) for row in rows]
