"""The index of facts finds the very match that comparing with every fact would find."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge import fact_index, facts
from knowledge.adoption import Opening
from knowledge.search.filters import Where
from knowledge.services import add
from knowledge.types import NewChunk, Verdict
from protoconsole.databases import KNOWLEDGE, fetch
from tests.actors import PLUGIN

EVERY_ROW = Where("1", ())
# Few words, so that overlaps of all sizes come up, values and letters without any word among them.
words = st.sampled_from(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "three",
        "five",
        "never",
        "Monday",
        "GB",
        "10",
        "don't",
        "the",
        "of",
    ]
)
texts = st.one_of(
    st.lists(words, min_size=1, max_size=9).map(" ".join),
    st.sampled_from(["!!!", "???", "設備清單", "a.b.c", "v1.2", "v1.3"]),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stored=st.lists(texts, max_size=25), new=texts)
def test_the_same_as_brute_force(store: Opening, stored: list[str], new: str) -> None:
    fetch(KNOWLEDGE, "DELETE FROM chunks")
    ids = [add(NewChunk(text, domain="fact", namespace="n"), PLUGIN).chunk for text in stored]
    pairs = [(chunk.id, chunk.content) for chunk in ids if chunk is not None]

    expected = facts.best(new, pairs)
    found = fact_index.nearest(new, "n", EVERY_ROW)

    assert (found and (found.chunk_id, found.judgement)) == expected


@pytest.mark.usefixtures("store")
def test_ten_thousand_facts_are_not_compared_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(f"service {n} of region {n % 97} listens on port {20_000 + n}",) for n in range(10_000)]
    from knowledge import catch_up
    from protoconsole.databases import execute_each, write_transaction

    with write_transaction(KNOWLEDGE):
        execute_each(
            KNOWLEDGE,
            "INSERT INTO chunks (content, domain, created_at, updated_at) VALUES (?, 'fact', '2026', '2026')",
            rows,
        )
        catch_up.drain(len(rows))
    compared: list[int] = []
    best = facts.best
    monkeypatch.setattr(
        facts, "best", lambda new, old: best(new, [compared.append(1) or pair for pair in old])
    )

    found = fact_index.nearest("service 4711 of region 55 listens on port 30000", None, EVERY_ROW)

    assert found is not None
    assert fetch(KNOWLEDGE, "SELECT content FROM chunks WHERE id = ?", (found.chunk_id,)) == [rows[4711]]
    assert len(compared) < 300


def test_verdicts_do_not_hide_a_fact_from_the_comparison(store: Opening) -> None:
    from knowledge import services
    from tests.actors import OPERATOR

    chunk = add(NewChunk("alpha beta gamma", domain="fact"), PLUGIN).chunk
    assert chunk is not None
    services.review(chunk.id, Verdict.REJECTED, OPERATOR)

    assert fact_index.nearest("alpha beta gamma", None, EVERY_ROW) is not None
