"""Finds the fact that a new one repeats or revises without comparing it to each of them.

Any fact with a Jaccard overlap of at least 0.6 shares one of the new fact's rarest words
(`facts.probes`), so only rows under those words are compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowledge import facts
from knowledge.facts import Judgement
from knowledge.reasoning import strip_reasoning
from knowledge.search.filters import Where
from knowledge.types import Chunk, Verdict
from protoconsole.databases import KNOWLEDGE, execute_each, fetch

FACT_DOMAIN = "fact"
_FREQUENCY_CAP = 5_000  # enough to rank words by rarity; counting on would cost with the store

_COUNT = """SELECT COUNT(*) FROM (
    SELECT 1 FROM pc_fact_tokens WHERE namespace = ? AND token = ? LIMIT ?)"""
_LOOK = """SELECT c.id, c.content FROM pc_fact_tokens AS t CROSS JOIN chunks AS c ON c.id = t.chunk_id
    WHERE t.namespace = ? AND t.token = ? AND t.size BETWEEN ? AND ?"""


@dataclass(frozen=True, slots=True)
class FactMatch:
    """The stored fact that is nearest to a new one, and how near."""

    chunk_id: int
    judgement: Judgement


def reindex(gone: Sequence[int], present: Iterable[Chunk]) -> None:
    """Forget rows, then take up those that are facts to compare with."""
    execute_each(KNOWLEDGE, "DELETE FROM pc_fact_tokens WHERE chunk_id = ?", ((row_id,) for row_id in gone))
    rows = [row for chunk in present if is_indexed(chunk) for row in entries_of(chunk)]
    execute_each(
        KNOWLEDGE, "INSERT INTO pc_fact_tokens (namespace, token, size, chunk_id) VALUES (?, ?, ?, ?)", rows
    )


def is_indexed(chunk: Chunk) -> bool:
    """History is left out, so that a fact revised often stays cheap; what was rejected stays known."""
    standing = chunk.invalidated_at is None or chunk.review_state is Verdict.REJECTED
    return chunk.domain == FACT_DOMAIN and standing


def nearest(content: str, namespace: str | None, where: Where) -> FactMatch | None:
    """Find the best match of a text among the facts of a namespace under a condition on `chunks AS c`.

    The best is the highest overlap, the newest among equals (SPEC 5). None below the revision band.
    """
    candidates = _candidates(content, namespace or "", where)
    best = facts.best(content, candidates)
    return FactMatch(*best) if best else None


def _candidates(content: str, namespace: str, where: Where) -> list[tuple[int, str]]:
    words = facts.tokens(content)

    def frequency(word: str) -> int:
        return int(fetch(KNOWLEDGE, _COUNT, (namespace, word, _FREQUENCY_CAP))[0][0])

    found: dict[int, str] = {}
    for probe in facts.probes(words, frequency):
        params = (namespace, probe.token, probe.least, probe.most, *where.params)
        found |= fetch(KNOWLEDGE, f"{_LOOK} AND {where.sql}", params)
    return [(row_id, strip_reasoning(text)) for row_id, text in found.items()]


def entries_of(chunk: Chunk) -> list[tuple[str, str, int, int]]:
    """Give the rows of `pc_fact_tokens` that a fact should have."""
    words = facts.tokens(strip_reasoning(chunk.content))
    return [(chunk.namespace or "", word, len(words), chunk.id) for word in words or {""}]
