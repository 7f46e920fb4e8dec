"""Turns that are posted, and the sessions that they leave."""

from typing import Any

import pytest

from memory.models import Message
from tests.api.conftest import Caller
from tests.memory.sessions import assistant, folder, put, settle, user

SESSIONS = "/api/memory/sessions"


def post(
    caller: Caller, *messages: dict[str, Any], session_id: str = "chat-1", **more: Any
) -> dict[str, Any]:
    reply = caller.post(f"/api/sessions/{session_id}/turns", {"messages": messages, **more})
    assert reply.status == 200, reply.body
    body: dict[str, Any] = reply.body
    return body


def test_a_finished_turn_leaves_a_summary(agent: Caller, operator: Caller) -> None:
    assert post(agent, user("Buy a kettle")) == {
        "stored": 1,
        "summary_written": False,
        "reason": "not_terminal",
        "detail": "",
    }
    assert post(agent, user("Buy a kettle"), assistant("Bought."), surface="chat", trace_id="tr-1") == {
        "stored": 1,
        "summary_written": True,
        "reason": None,
        "detail": "",
    }
    body = operator.get(f"{SESSIONS}/chat-1").body
    assert (body["session_id"], body["in_digest"], body["why_not"], body["fault"]) == (
        "chat-1",
        True,
        None,
        None,
    )
    assert body["line"].startswith("chat-1 · ")
    assert body["line"].endswith(" · chat · Buy a kettle · 2 msgs")
    assert body["summary"] == {
        "trace_id": "tr-1",
        "messages": [
            {"role": "user", "content": "Buy a kettle"},
            {"role": "assistant", "content": "Bought."},
        ],
        "tool_calls": [],
        "tool_calls_total": None,
        "final_output": "Bought.",
    }


def test_what_keeps_a_summary_from_being_written_is_told(agent: Caller) -> None:
    put("Chat-1")
    answer = post(agent, user("Buy a kettle"), assistant("Bought."))
    assert (answer["stored"], answer["summary_written"], answer["reason"]) == (2, False, "not_written")
    assert "the session Chat-1 only by letter case" in answer["detail"]


def test_keys_that_clients_add_to_messages_are_ignored(agent: Caller) -> None:
    assert post(agent, user("x", response_metadata={"a": 1}, usage=None), terminal=False)["stored"] == 1


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "messages"),
        ({"messages": [], "sesion": 1}, "sesion"),
        ({"messages": ["x"]}, "messages.0"),
        ({"messages": [{"content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": "x", "id": 5}]}, "messages.0.id"),
        ({"messages": [], "trace_id": "t" * 201}, "trace_id"),
        ({"messages": [], "surface": "\x00"}, "surface"),
    ],
)
def test_what_cannot_be_kept_is_named(agent: Caller, body: dict[str, Any], named: str) -> None:
    reply = agent.post("/api/sessions/chat-1/turns", body)
    assert (reply.status, reply.body["code"]) == (422, "invalid")
    assert reply.body["detail"].startswith(f"{named}:")


@pytest.mark.parametrize("session_id", ["a%2Fb", "a b", "%2e%2e", "x" * 10_000, "%00"])
def test_what_is_no_session_id_is_refused(agent: Caller, operator: Caller, session_id: str) -> None:
    replies = [
        agent.post(f"/api/sessions/{session_id}/turns", {"messages": []}),
        operator.get(f"{SESSIONS}/{session_id}"),
        operator.delete(f"{SESSIONS}/{session_id}"),
    ]
    assert {reply.status for reply in replies} <= {404, 422}


@pytest.mark.parametrize("by_header", [False, True])
def test_incognito_turns_are_not_kept(agent: Caller, operator: Caller, by_header: bool) -> None:
    body = {"messages": [user("secret"), assistant("kept quiet")], "incognito": not by_header}
    headers = {"X_Incognito": "true"} if by_header else {}
    reply = agent.post("/api/sessions/chat-1/turns", body, **headers)
    assert reply.body == {"stored": 0, "summary_written": False, "reason": "incognito", "detail": ""}
    assert not Message.objects.exists()
    assert operator.get(SESSIONS).body["items"] == []


def test_sessions_are_listed_newest_first_each_with_its_line(viewer: Caller) -> None:
    for n in range(12):
        put(f"chat-{n:02}", f"Topic {n}", minute=n)
    put("background:1", minute=30)
    (folder() / "chat-bad.json").write_text("{", "utf-8")
    settle()
    items = {item["session_id"]: item for item in viewer.get(f"{SESSIONS}?limit=200").body["items"]}
    assert len(items) == 14
    assert items["chat-11"]["line"] == "chat-11 · 2026-04-01T09:11:00+00:00 · chat · Topic 11 · 2 msgs"
    assert [name for name, item in items.items() if item["in_digest"]] == [
        f"chat-{n:02}" for n in range(11, 1, -1)
    ]
    assert items["chat-00"]["why_not"] == "beyond_max_sessions"
    assert items["background:1"]["why_not"] == "background"
    assert (items["chat-bad"]["why_not"], items["chat-bad"]["line"]) == ("unreadable", None)
    assert items["chat-bad"]["fault"]
    assert items["chat-00"]["size"] == (folder() / "chat-00.json").stat().st_size


def test_pages_go_through_all_sessions_once(operator: Caller) -> None:
    for n in range(5):
        put(f"chat-{n}", minute=n % 2)
    seen, cursor = [], ""
    while cursor is not None:
        body = operator.get(f"{SESSIONS}?limit=2{cursor and '&cursor=' + cursor.replace('+', '%2B')}").body
        seen += [item["session_id"] for item in body["items"]]
        cursor = body["next"]
    assert seen == ["chat-3", "chat-1", "chat-4", "chat-2", "chat-0"]
    assert operator.get(f"{SESSIONS}?cursor=nonsense").status == 422


def test_an_unreadable_summary_is_told_as_that(operator: Caller) -> None:
    put("chat-1")
    (folder() / "chat-1.json").write_text("[]", "utf-8")
    settle()
    body = operator.get(f"{SESSIONS}/chat-1").body
    assert (body["summary"], body["line"], body["in_digest"]) == (None, None, False)


def test_a_deleted_session_is_gone_everywhere(operator: Caller, agent: Caller, viewer: Caller) -> None:
    path = put("chat-1")
    assert viewer.delete(f"{SESSIONS}/chat-1").status == 403
    assert agent.post("/api/context", {"query": "x"}).body["digest_ids"] == ["chat-1"]
    assert operator.delete(f"{SESSIONS}/chat-1").status == 204
    assert not path.exists()
    assert agent.post("/api/context", {"query": "x"}).body["digest_ids"] == []
    assert operator.get(f"{SESSIONS}/chat-1").status == 404
    assert operator.delete(f"{SESSIONS}/chat-1").status == 404
