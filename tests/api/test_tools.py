"""The tools of agents over HTTP."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from protoconsole.instance import Instance
from tests.api.conftest import Caller
from tests.api.test_chunks import CHUNKS, added

TOOLS = "/api/tools"
ARGUMENTS: dict[str, dict[str, Any]] = {
    "memory_ingest": {"content": "x"},
    "memory_recall": {"query": "x"},
    "memory_list": {},
    "memory_stats": {},
    "forget_memory": {"chunk_id": 1},
    "session_search": {"query": "x"},
    "recall_session": {"session_id": "chat-1"},
}


def use(caller: Caller, tool: str, **arguments: Any) -> Any:
    reply = caller.post(f"{TOOLS}/{tool}", arguments, X_Session_Id="chat-1")
    assert (reply.status, set(reply.body)) == (200, {"text", "data"}), reply.body
    return reply.body


def configure(settings: Any, instance: Instance, block: str, **keys: Any) -> None:
    config = instance.config
    changed = replace(config, **{block: replace(getattr(config, block), **keys)})
    settings.INSTANCE = replace(instance, config=changed)


def test_the_list_describes_each_tool_in_a_fixed_order(agent: Caller) -> None:
    first, second = agent.get(TOOLS).body, agent.get(TOOLS).body
    assert first == second
    assert [tool["name"] for tool in first["items"]] == list(ARGUMENTS)
    for tool in first["items"]:
        assert tool["description"].endswith(".")
        assert tool["input_schema"]["additionalProperties"] is False


def test_the_arguments_are_those_of_the_contract(agent: Caller) -> None:
    schemas = {tool["name"]: tool["input_schema"] for tool in agent.get(TOOLS).body["items"]}
    names = {name: set(schema["properties"]) for name, schema in schemas.items()}
    assert names == {
        "memory_ingest": {
            "content", "domain", "heading", "namespace", "subject", "expires_in_days", "delivery_policy",
        },
        "memory_recall": {"query", "k", "domain", "include_superseded"},
        "memory_list": {"domain", "review_state", "limit"},
        "memory_stats": set(),
        "forget_memory": {"chunk_id", "reason"},
        "session_search": {"query", "k"},
        "recall_session": {"session_id"},
    }  # fmt: skip
    assert schemas["memory_ingest"]["required"] == ["content"]
    assert schemas["memory_ingest"]["properties"]["domain"]["default"] == "general"
    assert (
        schemas["memory_recall"]["properties"]["k"]["default"],
        schemas["memory_list"]["properties"]["limit"]["default"],
    ) == (5, 10)
    assert schemas["memory_recall"]["properties"]["include_superseded"]["default"] is False


def test_a_memory_carries_its_session_and_starts_unconfirmed(agent: Caller, operator: Caller) -> None:
    answer = use(agent, "memory_ingest", content="Ann likes tea.", domain="preferences", subject="Ann")
    assert (answer["data"]["outcome"], answer["text"]) == ("stored", answer["data"]["why"])
    row = operator.get(f"{CHUNKS}/{answer['data']['id']}").body
    assert (row["source"], row["source_type"], row["review_state"]) == ("chat-1", "conversation", "pending")
    assert (row["memory_kind"], row["subject"], row["trust"]) == ("profile", "Ann", "agent")
    entry = operator.get(f"{CHUNKS}/{row['id']}/audit").body["items"][0]
    assert (entry["actor"], entry["role"], entry["surface"], entry["session_id"]) == (
        "the agent", "agent", "tool", "chat-1",
    )  # fmt: skip


def test_without_a_session_there_is_no_source(agent: Caller, operator: Caller) -> None:
    row_id = agent.post(f"{TOOLS}/memory_ingest", {"content": "x"}).body["data"]["id"]
    assert operator.get(f"{CHUNKS}/{row_id}").body["source"] is None


def test_an_operators_key_writes_as_its_operator(operator: Caller) -> None:
    row = operator.get(f"{CHUNKS}/{use(operator, 'memory_ingest', content='x')['data']['id']}").body
    assert (row["source"], row["source_type"], row["review_state"]) == ("console", "operator", "confirmed")


def test_a_fact_is_consolidated(agent: Caller) -> None:
    fact = {
        "domain": "fact",
        "content": "the user keeps the staging cluster in the north region with three nodes",
    }
    first = use(agent, "memory_ingest", **fact)["data"]
    again = use(agent, "memory_ingest", **fact)["data"]
    assert (again["outcome"], again["id"]) == ("duplicate", first["id"])
    changed = fact | {"content": str(fact["content"]).replace("three", "five")}
    newer = use(agent, "memory_ingest", **changed)["data"]
    assert (newer["outcome"], newer["id"] == first["id"]) == ("revised", False)


def test_an_agent_does_not_replace_what_an_operator_confirmed_and_learns_what_was_rejected(
    agent: Caller, operator: Caller
) -> None:
    fact = {"domain": "fact", "content": "the user must never be called before nine in the morning"}
    row_id = use(agent, "memory_ingest", **fact)["data"]["id"]
    operator.post(f"/api/memory/chunks/{row_id}/review", {"state": "confirmed"})
    opposite = fact | {"content": "the user may always be called before nine in the morning"}
    assert use(agent, "memory_ingest", **opposite)["data"]["outcome"] == "proposed"
    operator.post(f"/api/memory/chunks/{row_id}/review", {"state": "rejected"})
    refused = use(agent, "memory_ingest", **fact)["data"]
    assert (refused["outcome"], refused["id"]) == ("refused", None)


def test_nothing_but_reasoning_is_dropped(agent: Caller) -> None:
    data = use(agent, "memory_ingest", content="<think>hm</think>")["data"]
    assert (data["outcome"], data["id"]) == ("dropped", None)


@pytest.mark.parametrize("field", ["source", "source_type", "review_state", "session_id", "trust", "kind"])
@pytest.mark.parametrize("tool", list(ARGUMENTS))
def test_what_is_no_argument_is_refused_by_name(agent: Caller, tool: str, field: str) -> None:
    reply = agent.post(f"{TOOLS}/{tool}", ARGUMENTS[tool] | {field: "no value"})
    # memory_list and recall_session have an argument of such a name, which takes other values.
    assert (reply.status, reply.body["detail"].partition(":")[0]) == (422, field)


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("memory_ingest", {}, "content"),
        ("memory_ingest", {"content": ""}, "content"),
        ("memory_ingest", {"content": "a\x00"}, "content"),
        ("memory_ingest", {"content": "x", "expires_in_days": 0}, "expires_in_days"),
        ("memory_ingest", {"content": "x", "expires_in_days": 3651}, "expires_in_days"),
        ("memory_ingest", {"content": "x", "delivery_policy": "never"}, "delivery_policy"),
        ("memory_recall", {}, "query"),
        ("memory_recall", {"query": "x", "k": 0}, "k"),
        ("memory_recall", {"query": "x", "k": 51}, "k"),
        ("memory_recall", {"query": "x", "k": True}, "k"),
        ("memory_list", {"review_state": "rejected"}, "review_state"),
        ("memory_list", {"limit": 51}, "limit"),
        ("forget_memory", {}, "chunk_id"),
        ("forget_memory", {"chunk_id": "commons:7"}, "chunk_id"),
        ("forget_memory", {"chunk_id": 2**63}, "chunk_id"),
    ],
)
def test_a_bad_argument_is_refused_by_name(
    agent: Caller, tool: str, arguments: dict[str, Any], field: str
) -> None:
    reply = agent.post(f"{TOOLS}/{tool}", arguments)
    assert (reply.status, reply.body["detail"].partition(":")[0]) == (422, field)


@pytest.mark.parametrize("name", ["nothing", "memory_ingest/x", "Memory_Ingest"])
def test_an_unknown_tool_is_404(agent: Caller, name: str) -> None:
    reply = agent.post(f"{TOOLS}/{name}", {})
    assert (reply.status, reply.body["code"]) == (404, "not_found")


def test_an_expiry_is_shown_in_the_list_and_the_row_leaves_recall_when_it_lapses(
    agent: Caller, operator: Caller
) -> None:
    use(agent, "memory_ingest", content="The demo is soon.", expires_in_days=30)
    day = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    assert f"; expires={day};" in use(agent, "memory_list")["text"]
    added(operator, "The demo was long ago.", expires_at="2001-01-01")
    recalled = use(agent, "memory_recall", query="demo")["data"]["items"]
    assert [row["content"] for row in recalled] == ["The demo is soon."]
    assert "; expired;" in use(agent, "memory_list")["text"]


def test_recall_reaches_every_namespace_and_tier(agent: Caller, operator: Caller, plugin: Caller) -> None:
    added(operator, "The demo room is red.", namespace="a")
    added(plugin, "The demo room is blue.", namespace="b", source_type="html")
    use(agent, "memory_ingest", content="The demo room is green.")
    found = use(agent, "memory_recall", query="demo room")
    assert {row["trust"] for row in found["data"]["items"]} == {"operator", "agent", "external"}
    assert len(found["text"].splitlines()) == 3


def test_a_hit_is_one_line_with_all_its_labels(agent: Caller, operator: Caller) -> None:
    row = added(operator, "Three nodes.", heading="Cluster", domain="finding", source="notes.md")
    day = str(row["created_at"])[:10]
    text = use(agent, "memory_recall", query="nodes")["text"]
    assert (
        text == f"#{row['id']} [finding] (stored {day}; trust: operator; src: notes.md) Cluster: Three nodes."
    )


def test_what_was_replaced_comes_only_when_asked_for_and_is_marked(agent: Caller, operator: Caller) -> None:
    old = added(operator, "Three nodes.")
    new = operator.put(f"{CHUNKS}/{old['id']}", {"content": "Five nodes."}).body
    assert len(use(agent, "memory_recall", query="nodes")["data"]["items"]) == 1
    lines = use(agent, "memory_recall", query="nodes", include_superseded=True)["text"].splitlines()
    marked = next(line for line in lines if line.startswith(f"#{old['id']} "))
    assert f"[superseded by #{new['id']}]" in marked
    assert sum("[superseded" in line for line in lines) == 1


def test_a_row_replaced_without_a_chain_is_marked_too(agent: Caller, operator: Caller) -> None:
    from protoconsole.databases import KNOWLEDGE, fetch

    row = added(operator, "Three nodes.")
    fetch(KNOWLEDGE, "UPDATE chunks SET invalidated_at = '2026-01-01' WHERE id = ?", (row["id"],))
    text = use(agent, "memory_recall", query="nodes", include_superseded=True)["text"]
    assert " [superseded] (stored " in text


def test_a_long_memory_is_cut_in_the_text_and_whole_in_the_data(agent: Caller, operator: Caller) -> None:
    content = "word " * 1_000
    added(operator, content)
    found = use(agent, "memory_recall", query="word")
    assert "(5,000 characters in all)" in found["text"]
    assert len(found["text"]) < 1_200
    assert found["data"]["items"][0]["content"] == content


def test_the_list_can_be_narrowed(agent: Caller, operator: Caller) -> None:
    added(operator, "Confirmed.", domain="d")
    use(agent, "memory_ingest", content="Pending.", domain="d")
    use(agent, "memory_ingest", content="Elsewhere.")
    assert len(use(agent, "memory_list")["data"]["items"]) == 3
    for arguments, contents in (
        ({"domain": "d"}, ["Pending.", "Confirmed."]),
        ({"review_state": "confirmed"}, ["Confirmed."]),
        ({"review_state": "pending", "limit": 1}, ["Elsewhere."]),
    ):
        items = use(agent, "memory_list", **arguments)["data"]["items"]
        assert [row["content"] for row in items] == contents


def test_counts_say_what_there_is(agent: Caller, operator: Caller) -> None:
    added(operator, domain="finding")
    use(agent, "memory_ingest", content="x")
    counted = use(agent, "memory_stats")
    assert counted["data"]["domain"] == {"finding": 1, "general": 1}
    assert counted["text"].splitlines()[:2] == ["2 memories in all.", "by domain: finding 1, general 1"]


def test_an_agent_forgets_what_no_operator_vouched_for(
    agent: Caller, operator: Caller, plugin: Caller
) -> None:
    external = added(plugin, source_type="html")
    answer = use(agent, "forget_memory", chunk_id=external["id"], reason="stale")
    assert (answer["data"]["outcome"], answer["data"]["id"]) == ("forgotten", external["id"])
    assert agent.get(f"{CHUNKS}/{external['id']}").status == 404
    assert operator.get(f"{CHUNKS}/{external['id']}/audit").body["items"][0]["note"] == "stale"


def test_an_agent_does_not_forget_what_an_operator_wrote_or_confirmed(
    agent: Caller, operator: Caller, plugin: Caller
) -> None:
    written, confirmed = added(operator), added(plugin)
    operator.post(f"/api/memory/chunks/{confirmed['id']}/review", {"state": "confirmed"})
    for row, word in ((written, "written"), (confirmed, "confirmed")):
        answer = use(agent, "forget_memory", chunk_id=row["id"])
        assert answer["data"]["outcome"] == "refused"
        assert word in answer["text"]
        assert agent.get(f"{CHUNKS}/{row['id']}").body["valid"] is True


def test_forgetting_what_is_not_there_is_404_and_what_is_replaced_is_409(
    agent: Caller, operator: Caller
) -> None:
    assert agent.post(f"{TOOLS}/forget_memory", {"chunk_id": 99}).status == 404
    old = added(operator)
    operator.put(f"{CHUNKS}/{old['id']}", {"content": "Newer."})
    assert agent.post(f"{TOOLS}/forget_memory", {"chunk_id": old["id"]}).status == 409


@pytest.mark.parametrize("arguments", [{"domain": "hot"}, {"delivery_policy": "always"}])
def test_always_on_memory_needs_an_operator_where_so_configured(
    agent: Caller, operator: Caller, settings: Any, instance: Instance, arguments: dict[str, str]
) -> None:
    assert use(agent, "memory_ingest", content="x", **arguments)["data"]["outcome"] == "stored"
    configure(settings, instance, "knowledge", hot_write_confirm=True)
    answer = use(agent, "memory_ingest", content="y", **arguments)
    assert (answer["data"]["outcome"], answer["data"]["id"]) == ("refused", None)
    assert "operator" in answer["text"]
    assert (
        use(agent, "memory_ingest", content="z", delivery_policy="on_demand")["data"]["outcome"] == "stored"
    )
    assert len(operator.get(CHUNKS).body["items"]) == 2


@pytest.mark.parametrize("tool", list(ARGUMENTS))
def test_where_memory_is_off_every_tool_says_so(
    agent: Caller, settings: Any, instance: Instance, tool: str
) -> None:
    configure(settings, instance, "middleware", knowledge=False)
    answer = use(agent, tool, **ARGUMENTS[tool])
    assert answer["data"]["outcome"] == "refused"
    assert "off" in answer["text"]


@pytest.mark.parametrize("value", ["1", "true", "YES"])
def test_an_incognito_conversation_reads_and_writes_nothing(
    agent: Caller, operator: Caller, value: str
) -> None:
    row = added(operator)
    for tool, arguments in ARGUMENTS.items():
        reply = agent.post(f"{TOOLS}/{tool}", arguments, X_Incognito=value)
        if tool == "recall_session":
            assert reply.status == 404  # not refused: there is no such session
            continue
        assert reply.status == 200
        refused = reply.body["data"].get("outcome") == "refused"
        assert refused is (tool in ("memory_ingest", "forget_memory")), tool
    assert [item["id"] for item in operator.get(CHUNKS).body["items"]] == [row["id"]]


def test_incognito_zero_is_not_incognito(agent: Caller) -> None:
    reply = agent.post(f"{TOOLS}/memory_ingest", {"content": "x"}, X_Incognito="0")
    assert reply.body["data"]["outcome"] == "stored"


def test_a_query_that_cannot_be_stored_is_cleaned(agent: Caller, operator: Caller) -> None:
    added(operator, "Three nodes.")
    assert len(use(agent, "memory_recall", query="no\x00des \ud800")["data"]["items"]) == 1


def test_the_tool_and_the_door_of_operators_leave_like_rows(agent: Caller, operator: Caller) -> None:
    fields = {
        "content": "Three nodes.",
        "domain": "finding",
        "heading": "H",
        "namespace": "n",
        "subject": "s",
    }
    by_tool = operator.get(f"{CHUNKS}/{use(agent, 'memory_ingest', **fields)['data']['id']}").body
    by_door = added(
        operator, str(fields.pop("content")), **fields, source="chat-1", source_type="conversation"
    )
    for name in ("id", "created_at", "updated_at"):
        del by_tool[name], by_door[name]
    assert by_tool == by_door
