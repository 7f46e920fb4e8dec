"""A turn over the API: what it sends, what it is told, who may ask."""

import sqlite3
import time
from contextlib import closing
from typing import Any

import pytest

from memory import delivery, turn_faults
from memory.injections.errors import LogUnwritable
from memory.models import Thread
from memory.turn_faults import TurnFault
from protoconsole.access.models import SessionClaim
from protoconsole.actors import Role
from protoconsole.databases import CONSOLE, INJECTIONS, fetch
from protoconsole.instance import Instance
from tests.api.conftest import Caller, MakeCaller

CONTEXT = "/api/context"
PREVIEW = "/api/prompts/preview"
STATE = {
    "goal": {
        "status": "active",
        "iteration": 2,
        "max_iterations": 9,
        "condition": "tests pass",
        "plan": "go on",
    },
    "tasks": [{"id": "t-1", "status": "open", "priority": "high", "title": "write", "session_id": "chat-1"}],
    "watches": [{"id": "w-1", "status": "on", "title": "the build"}],
    "schedules": [{"id": "s-1", "next": "2026-12-02", "prompt": "water the plants"}],
}


def added(operator: Caller, content: str = "The kettle is blue.", **fields: Any) -> int:
    reply = operator.post("/api/knowledge/chunks", {"content": content, "domain": "fact", **fields})
    assert reply.status == 201, reply.body
    return int(reply.body["id"])


def told(caller: Caller, query: str = "kettle", **fields: Any) -> dict[str, Any]:
    reply = caller.post(CONTEXT, {"query": query, **fields})
    assert reply.status == 200, reply.body
    body: dict[str, Any] = reply.body
    return body


def logged() -> int:
    return int(fetch(INJECTIONS, "SELECT COUNT(*) FROM injections")[0][0])


def test_a_turn_is_told_in_the_shape_of_the_contract(agent: Caller, operator: Caller) -> None:
    fact, rule = added(operator), added(operator, "Speak plainly.", domain="hot")
    body = told(agent, session_id="chat-1")
    text = body.pop("text")
    assert "- [fact] The kettle is blue. (stored " in text
    assert body == {
        "sections": [
            {"label": "always_on", "chars": body["sections"][0]["chars"], "truncated": False},
            {"label": "hits", "chars": body["sections"][1]["chars"], "truncated": False},
        ],
        "digest_ids": [],
        "hot_ids": [rule],
        "rag_ids": [fact],
        "sources": ["console"],
        "budget": {"ceiling_chars": None, "used_chars": len(text), "overflow": []},
        "injection_id": 1,
    }


def test_what_a_small_window_sheds_is_told(agent: Caller, operator: Caller) -> None:
    for _ in range(20):
        added(operator, "rule " + "x" * 280, domain="hot")
    for n in range(5):
        added(operator, f"kettle {n} " + "y" * 2_000)
    tasks = [{"id": f"t-{n}", "title": "z" * 900} for n in range(12)]
    body = told(agent, window=8_000, working_state={"tasks": tasks})
    assert body["budget"]["ceiling_chars"] == 16_000
    [shed] = body["budget"]["overflow"]
    assert (shed["label"], shed["dropped_items"]) == ("hits", 5 - len(body["rag_ids"]))
    assert {section["label"] for section in body["sections"] if section["truncated"]} == {"hits"}


def test_a_retry_answers_the_same_and_logs_nothing(agent: Caller, operator: Caller) -> None:
    row = added(operator)
    first = told(agent, session_id="chat-1", turn_id="t-1")
    added(operator, "The kettle is red.")
    assert told(agent, session_id="chat-1", turn_id="t-1") == first
    assert logged() == 1
    operator.post(f"/api/memory/chunks/{row}/review", {"state": "rejected"})
    anew = told(agent, session_id="chat-1", turn_id="t-1")
    assert row not in anew["rag_ids"]
    assert (anew["injection_id"], logged()) == (2, 2)


def test_the_working_state_of_the_request_beats_the_one_that_was_put(agent: Caller) -> None:
    reply = agent.put("/api/sessions/chat-1/working-state", STATE)
    assert (reply.status, reply.body) == (200, STATE)
    text = told(agent, session_id="chat-1")["text"]
    assert "GOAL [active · step 2 of 9] tests pass" in text
    assert "SCHEDULE [s-1 · 2026-12-02] water the plants" in text
    other = told(agent, session_id="chat-1", working_state={"tasks": [{"id": 7, "priority": 1}]})["text"]
    assert "TASK [7 · 1] " in other
    assert "water the plants" not in other
    assert told(agent, session_id="chat-1", working_state={})["text"] == ""


def test_a_session_belongs_to_the_agent_that_used_it_first(
    agent: Caller, caller: MakeCaller, operator: Caller
) -> None:
    other = caller(Role.AGENT, "another agent")
    told(agent, session_id="chat-1")
    calls = [
        other.post(CONTEXT, {"query": "x", "session_id": "chat-1"}),
        other.post(CONTEXT, {"query": "x", "session_id": "chat-1", "incognito": True}),
        other.post("/api/sessions/chat-1/turns", {"messages": []}),
        other.put("/api/sessions/chat-1/working-state", STATE),
    ]
    assert [(reply.status, reply.body["code"]) for reply in calls] == [(403, "forbidden")] * 4
    told(operator, session_id="chat-1")


def test_the_session_of_the_header_is_that_of_the_turn(agent: Caller, operator: Caller) -> None:
    added(operator)
    reply = agent.post(CONTEXT, {"query": "kettle"}, X_Session_Id="chat-9")
    assert reply.status == 200
    [(session_id,)] = fetch(INJECTIONS, "SELECT session_id FROM injections")
    assert session_id == "chat-9"


@pytest.mark.parametrize("named_by", [{"body"}, {"header"}, {"body", "header"}], ids=" and ".join)
@pytest.mark.parametrize("hidden_by", ["body", "header"])
def test_an_incognito_turn_gets_no_memory_and_leaves_no_row_anywhere(
    agent: Caller, operator: Caller, instance: Instance, named_by: set[str], hidden_by: str
) -> None:
    added(operator)
    body: dict[str, Any] = {"query": "kettle of Zanzibar", "working_state": STATE}
    headers = {"X_Session_Id": "chat-zanzibar"} if "header" in named_by else {}
    body |= {"session_id": "chat-zanzibar"} if "body" in named_by else {}
    headers |= {"X_Incognito": "1"} if hidden_by == "header" else {}
    body |= {"incognito": True} if hidden_by == "body" else {}
    reply = agent.post(CONTEXT, body, **headers)
    assert (reply.body["rag_ids"], reply.body["injection_id"]) == ([], None)
    assert "tests pass" in reply.body["text"]
    assert not SessionClaim.objects.exists()
    assert not Thread.objects.exists()
    files = [path for path in instance.paths.instance_root.rglob("*") if path.is_file()]
    assert [path for path in files if b"zanzibar" in path.read_bytes().lower()] == []


def test_a_header_and_a_body_that_name_two_sessions_are_refused(agent: Caller) -> None:
    reply = agent.post(CONTEXT, {"query": "x", "session_id": "chat-1"}, X_Session_Id="chat-2")
    assert (reply.status, reply.body["code"]) == (422, "invalid")
    assert reply.body["detail"].startswith("session_id: ")
    assert not SessionClaim.objects.exists()


@pytest.mark.parametrize("hidden", [{}, {"X_Incognito": "1"}])
def test_a_busy_console_store_holds_up_no_first_turn(
    agent: Caller, instance: Instance, hidden: dict[str, str]
) -> None:
    with closing(sqlite3.connect(instance.paths.console_db, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        assert agent.post(CONTEXT, {"query": "x"}, X_Session_Id="chat-1", **hidden).status == 200
        assert told(agent, session_id="chat-1")["text"] == ""
        assert time.monotonic() - began < 5  # a write waits for ten
        other.execute("ROLLBACK")
    assert not SessionClaim.objects.exists()


def test_a_read_only_console_store_stops_no_turn(agent: Caller, operator: Caller) -> None:
    row = added(operator)
    counted = turn_faults.FAULTS.labels(TurnFault.NOTES)._value
    before = counted.get()
    fetch(CONSOLE, "PRAGMA query_only = ON")
    assert told(agent, session_id="chat-1")["rag_ids"] == [row]
    assert counted.get() == before + 1
    reasons = " ".join(operator.get("/api/runtime/status").body["reasons"])
    assert "turns claim no session" in reasons
    fetch(CONSOLE, "PRAGMA query_only = OFF")
    told(agent, session_id="chat-1")
    assert [claim.session_id for claim in SessionClaim.objects.all()] == ["chat-1"]
    assert "turns claim no session" not in " ".join(turn_faults.reasons())


def test_the_session_of_the_header_is_held_for_the_agent(agent: Caller, caller: MakeCaller) -> None:
    agent.post(CONTEXT, {"query": "x"}, X_Session_Id="chat-1")
    agent.post("/api/tools/memory_stats", X_Session_Id="chat-2")
    other = caller(Role.AGENT, "another agent")
    for session_id in ("chat-1", "chat-2"):
        assert other.post("/api/tools/memory_stats", X_Session_Id=session_id).status == 403


def test_what_is_hidden_or_refused_claims_no_session(agent: Caller) -> None:
    agent.post("/api/tools/memory_stats", X_Session_Id="chat-1", X_Incognito="1")
    agent.put("/api/sessions/chat-1/working-state", STATE, X_Incognito="1")
    assert not SessionClaim.objects.exists()


def test_an_incognito_session_gets_no_working_state_kept(agent: Caller) -> None:
    agent.post("/api/sessions/chat-1/turns", {"messages": [], "incognito": True})
    for headers in ({}, {"X_Incognito": "1"}):
        reply = agent.put("/api/sessions/chat-1/working-state", STATE, **headers)
        assert (reply.status, reply.body["code"]) == (403, "forbidden")
    assert told(agent, session_id="chat-1")["text"] == ""


def test_the_tools_of_an_incognito_session_write_nothing(agent: Caller) -> None:
    call = ("/api/tools/memory_ingest", {"content": "The kettle is blue."})
    agent.post("/api/sessions/chat-1/turns", {"messages": [], "incognito": True})
    assert agent.post(*call, X_Session_Id="chat-1").body["data"]["outcome"] == "refused"
    agent.post("/api/sessions/chat-1/turns", {"messages": []})
    assert agent.post(*call, X_Session_Id="chat-1").body["data"]["outcome"] == "stored"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "query"),
        ({"query": 5}, "query"),
        ({"query": "x", "sesion_id": "chat-1"}, "sesion_id"),
        ({"query": "x", "session_id": "a/b"}, "session_id"),
        ({"query": "x", "session_id": ".."}, "session_id"),
        ({"query": "x", "session_id": "a" * 10_000}, "session_id"),
        ({"query": "x", "turn_id": ""}, "turn_id"),
        ({"query": "x", "turn_id": "a\x00"}, "turn_id"),
        ({"query": "x", "window": 0}, "window"),
        ({"query": "x", "window": "many"}, "window"),
        ({"query": "x", "model": "m" * 201}, "model"),
        ({"query": "x", "working_state": {"goals": []}}, "working_state.goals"),
        ({"query": "x", "working_state": {"tasks": [{"id": "t", "due": 1}]}}, "working_state.tasks.0.due"),
        ({"query": "x", "working_state": {"goal": {"plan": "a\ud800"}}}, "working_state.goal.plan"),
    ],
)
def test_what_cannot_be_understood_is_named(agent: Caller, body: dict[str, Any], named: str) -> None:
    reply = agent.post(CONTEXT, body)
    assert (reply.status, reply.body["code"]) == (422, "invalid")
    assert reply.body["detail"].startswith(f"{named}:")
    assert logged() == 0


@pytest.mark.parametrize("query", ["", "\ud800\x00", '"NEAR(', "ket* OR ^", "词" * 100_000])
def test_any_message_is_answered(agent: Caller, query: str) -> None:
    assert told(agent, query)["rag_ids"] == []


def test_a_preview_shows_what_the_turn_then_gets(agent: Caller, operator: Caller, viewer: Caller) -> None:
    row = added(operator)
    added(operator, "A kettle that is no good.", delivery_policy="on_demand")
    shown = viewer.get(f"{PREVIEW}?query=kettle&session_id=chat-1")
    assert shown.status == 200
    assert logged() == 0
    [item] = shown.body["items"]
    assert (item["part"], item["id"], item["trust"], item["review_state"]) == (
        "hits",
        row,
        "operator",
        "confirmed",
    )
    assert item["words"] in shown.body["text"]
    assert shown.body["left_out"] == [{"part": "hits", "id": row + 1, "reason": "on_demand"}]
    answer = told(agent, session_id="chat-1")
    del answer["injection_id"]
    assert {name: shown.body[name] for name in answer} == answer


def test_a_preview_looks_at_rows_as_if_they_were_ruled_on(operator: Caller) -> None:
    rows = [added(operator), added(operator, "Another kettle.")]
    body = operator.get(f"{PREVIEW}?query=kettle&rejected={rows[0]}&rejected={rows[1]}").body
    assert (body["text"], body["rag_ids"]) == ("", [])
    assert operator.get(f"{PREVIEW}?query=kettle&pinned={rows[0]}").body["hot_ids"] == [rows[0]]
    assert operator.get(f"{PREVIEW}?query=kettle&confirmed=commons:1").body["hot_ids"] == []
    assert operator.get(f"{PREVIEW}?query=kettle&incognito=true").body["text"] == ""


@pytest.mark.parametrize("address", ["?session_id=a%2Fb", "?window=0", "?quarry=x", "?query=x&query=y"])
def test_a_preview_of_nonsense_is_refused(operator: Caller, address: str) -> None:
    assert operator.get(PREVIEW + address).status == 422


def test_a_turn_that_could_not_be_recorded_shows_in_the_status(
    agent: Caller, operator: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(operator)

    def fail(*args: object, **kwargs: object) -> None:
        raise LogUnwritable("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(delivery, "record", fail)
        assert told(agent)["injection_id"] is None
    reasons = operator.get("/api/runtime/status").body["reasons"]
    assert [reason for reason in reasons if "the disk is full" in reason]
    assert told(agent)["injection_id"] is not None
    reasons = operator.get("/api/runtime/status").body["reasons"]
    assert not [reason for reason in reasons if "the disk is full" in reason]
