"""Find sessions by their words: stemmed where SQLite can, by plain comparison where it cannot."""

import json
from collections.abc import Sequence

from django.db import DatabaseError

from knowledge.errors import SearchBroken
from knowledge.search import fts5
from knowledge.search.words import match_expression, query_words
from memory.models import IndexedSession
from protoconsole.databases import CONSOLE, fetch

BEST = """
    SELECT i.session_id FROM memory_session_words AS w CROSS JOIN memory_indexedsession AS i ON i.id = w.rowid
    WHERE w.memory_session_words MATCH ? AND i.readable AND i.background <= ? AND i.session_id <> ?
    ORDER BY w.rank, i.timestamp DESC, i.session_id DESC LIMIT ?"""
MOST_WORDS = """
    SELECT i.session_id FROM json_each(?) AS j CROSS JOIN memory_session_words AS w
    CROSS JOIN memory_indexedsession AS i ON i.id = w.rowid
    WHERE instr(w.words, j.value) AND i.readable AND i.background <= ? AND i.session_id <> ?
    GROUP BY i.id ORDER BY count(*) DESC, i.timestamp DESC, i.session_id DESC LIMIT ?"""
IS_STEMMED = "SELECT 1 FROM sqlite_master WHERE name = 'memory_session_words' AND sql LIKE 'CREATE VIRTUAL %'"


def stemmed() -> bool:
    """Say whether the words are in an index that stems them."""
    return fts5.available() and bool(fetch(CONSOLE, IS_STEMMED))


def search(query: str, k: int, *, without: str = "", background: bool = True) -> list[IndexedSession]:
    """Find the k best sessions that share a word with a query; none for a query without words.

    Raises SearchBroken when the index cannot answer.
    """
    words = list(dict.fromkeys(query_words(query)))
    if not words:
        return []
    try:
        found = _matching(words, background, without, k)
    except DatabaseError as error:
        raise SearchBroken(f"the index of sessions cannot answer ({error})") from error
    rows = {row.session_id: row for row in IndexedSession.objects.filter(session_id__in=found)}
    return [rows[session_id] for session_id in found if session_id in rows]


def _matching(words: Sequence[str], background: bool, without: str, k: int) -> list[str]:
    stems = stemmed()
    asked = match_expression(words) if stems else json.dumps(words)
    rows = fetch(CONSOLE, BEST if stems else MOST_WORDS, (asked, background, without, k))
    return [session_id for (session_id,) in rows]
