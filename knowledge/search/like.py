"""Search without FTS5: rows that hold any of the words, those with the most words first.

It looks into each row, as LIKE would, but in folded text: LIKE itself knows the letter case of ASCII only.
"""

from collections.abc import Sequence

from django.db import connections

from knowledge.rows import SELECTED, chunk_of
from knowledge.search.filters import Where
from knowledge.search.words import folded
from knowledge.types import Chunk
from protoconsole.databases import KNOWLEDGE, fetch

MAX_WORDS = 24
_HOLDS = "(instr(pc_folded(c.content), ?) > 0 OR instr(pc_folded(COALESCE(c.heading, '')), ?) > 0)"


def holding(words: Sequence[str]) -> Where:
    """Narrow `chunks AS c` to the rows that hold every word."""
    _teach_folding()
    distinct = list(dict.fromkeys(words))[:MAX_WORDS]
    words_twice = [word for word in distinct for _ in range(2)]
    return Where(" AND ".join([_HOLDS] * len(distinct)) or "0", tuple(words_twice))


def search(words: Sequence[str], where: Where, k: int, *, now: str) -> list[tuple[Chunk, float]]:
    """Find the k best rows under a condition; the score is the share of the words that a row holds."""
    distinct = list(dict.fromkeys(words))[:MAX_WORDS]
    if not distinct:
        return []
    words_twice = [word for word in distinct for _ in range(2)]
    found = " + ".join([_HOLDS] * len(distinct))
    sql = (
        f"SELECT {SELECTED}, ({found}) AS held FROM chunks AS c"
        f" WHERE held > 0 AND {where.sql} ORDER BY held DESC, c.id DESC LIMIT ?"
    )
    _teach_folding()
    rows = fetch(KNOWLEDGE, sql, (*words_twice, *where.params, k))
    return [(chunk_of(row[:-1], now=now), row[-1] / len(distinct)) for row in rows]


def _teach_folding() -> None:
    connection = connections[KNOWLEDGE]
    connection.ensure_connection()
    connection.connection.create_function("pc_folded", 1, folded, deterministic=True)
