"""Search over the API."""

import pytest

from tests.api.conftest import Caller
from tests.api.test_chunks import COLUMNS, added
from tests.cases import cases

SEARCH = "/api/knowledge/search"


def test_a_hit_is_a_row_with_its_score_and_a_plain_preview(operator: Caller, agent: Caller) -> None:
    added(operator, "The cluster \ue000has\ue001 three nodes.")
    added(operator, "Lunch is at noon.")
    reply = agent.get(f"{SEARCH}?q=clusters")
    assert reply.status == 200
    (hit,) = reply.body["items"]
    assert set(hit) == COLUMNS | {"score", "preview"}
    assert hit["preview"] == "The cluster has three nodes."
    assert hit["content"] == "The cluster \ue000has\ue001 three nodes."
    assert hit["score"] > 0
    assert (reply.body["next"], reply.body["ranking"], reply.body["index_pending"]) == (None, "keyword", 0)


def test_without_words_the_newest_come_first_without_a_score(operator: Caller) -> None:
    for content in ("One.", "Two.", "Three."):
        added(operator, content)
    reply = operator.get(f"{SEARCH}?k=2")
    assert [item["content"] for item in reply.body["items"]] == ["Three.", "Two."]
    assert {item["score"] for item in reply.body["items"]} == {None}
    assert reply.body["ranking"] == "newest"


def test_filters_bind(operator: Caller) -> None:
    added(operator, "The cluster in the north.", namespace="n")
    added(operator, "The cluster in the south.", namespace="s")
    items = operator.get(f"{SEARCH}?q=cluster&namespace=s").body["items"]
    assert [item["namespace"] for item in items] == ["s"]


@pytest.mark.usefixtures("without_fts5")
def test_without_fts5_the_same_call_answers(operator: Caller) -> None:
    added(operator, "The cluster has three nodes.")
    reply = operator.get(f"{SEARCH}?q=cluster")
    assert (len(reply.body["items"]), reply.body["ranking"]) == (1, "like")


@pytest.mark.parametrize("k", ["0", "201", "many"])
def test_how_many_must_be_possible(viewer: Caller, k: str) -> None:
    reply = viewer.get(f"{SEARCH}?q=x&k={k}")
    assert (reply.status, reply.body["detail"][:3]) == (422, "k: ")


def test_no_query_is_ever_an_error(operator: Caller) -> None:
    added(operator)
    for case in [*cases("hostile_queries"), {"query": "a%00b"}, {"query": "\ud800"}]:
        text = case["query"] if isinstance(case, dict) else case
        reply = operator.client.get(
            SEARCH,
            {"q": str(text)[:20_000].encode("utf-8", "surrogatepass")},
            headers={"Authorization": f"Bearer {operator.token}"},
        )
        assert reply.status_code == 200, text


def test_an_index_that_cannot_answer_is_not_an_empty_list(operator: Caller) -> None:
    from protoconsole.databases import KNOWLEDGE, fetch

    added(operator)
    fetch(KNOWLEDGE, "DROP TABLE pc_search")
    reply = operator.get(f"{SEARCH}?q=cluster")
    assert (reply.status, reply.body["code"]) == (503, "unavailable")
    assert "doctor --repair" in reply.body["detail"]
