"""Search without FTS5: rows that hold any of the words, those with the most words first."""

from collections.abc import Sequence

from knowledge.rows import SELECTED, chunk_of
from knowledge.search.filters import Where
from knowledge.types import Chunk
from protoconsole.databases import KNOWLEDGE, fetch

MAX_WORDS = 24
_HOLDS = "(c.content LIKE ? ESCAPE '\\' OR COALESCE(c.heading, '') LIKE ? ESCAPE '\\')"


def holding(words: Sequence[str]) -> Where:
    """Narrow `chunks AS c` to the rows that hold every word."""
    distinct = list(dict.fromkeys(words))[:MAX_WORDS]
    patterns = [pattern for word in distinct for pattern in (_pattern(word),) * 2]
    return Where(" AND ".join([_HOLDS] * len(distinct)) or "0", tuple(patterns))


def search(words: Sequence[str], where: Where, k: int, *, now: str) -> list[tuple[Chunk, float]]:
    """Find the k best rows under a condition; the score is the share of the words that a row holds."""
    distinct = list(dict.fromkeys(words))[:MAX_WORDS]
    if not distinct:
        return []
    patterns = [pattern for word in distinct for pattern in (_pattern(word),) * 2]
    found = " + ".join([_HOLDS] * len(distinct))
    sql = (
        f"SELECT {SELECTED}, ({found}) AS held FROM chunks AS c"
        f" WHERE held > 0 AND {where.sql} ORDER BY held DESC, c.id DESC LIMIT ?"
    )
    rows = fetch(KNOWLEDGE, sql, (*patterns, *where.params, k))
    return [(chunk_of(row[:-1], now=now), row[-1] / len(distinct)) for row in rows]


def _pattern(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
