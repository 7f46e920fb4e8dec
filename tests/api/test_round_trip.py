"""Text goes in and comes out exactly, by every field and both doors."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.reasoning import strip_reasoning
from tests.api.conftest import Caller
from tests.api.test_chunks import CHUNKS

storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=80)
content = storable.filter(lambda text: text.strip() and strip_reasoning(text) == text)
quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quick
@given(content, content, content, content)
def test_a_plugins_text_is_kept_exactly(
    plugin: Caller, text: str, heading: str, source: str, namespace: str
) -> None:
    sent = {"content": text, "heading": heading, "source": source, "namespace": namespace}
    row = plugin.post(CHUNKS, sent).body
    for read in (row, plugin.get(f"{CHUNKS}/{row['id']}").body):
        assert {name: read[name] for name in sent} == sent


@quick
@given(content, content, content)
def test_an_agents_text_is_kept_exactly(agent: Caller, text: str, heading: str, namespace: str) -> None:
    sent = {"content": text, "heading": heading, "namespace": namespace}
    answer = agent.post("/api/tools/memory_ingest", sent, X_Session_Id="chat-1").body
    listed: dict[str, Any] = agent.post("/api/tools/memory_list", {"limit": 1}).body["data"]["items"][0]
    assert listed["id"] == answer["data"]["id"]
    assert {name: listed[name] for name in sent} == sent


@quick
@given(storable)
def test_any_source_is_found_again_by_its_own_name(operator: Caller, source: str) -> None:
    if source.strip():
        row = operator.post(CHUNKS, {"content": "x", "source": source}).body
        response = operator.client.get(
            CHUNKS, {"source": source, "limit": 1}, headers={"X-API-Key": operator.token}
        )
        assert response.json()["items"][0]["id"] == row["id"]
