"""The record of every turn over the API."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from protoconsole.databases import INJECTIONS, fetch
from tests.api.conftest import Caller
from tests.memory.sessions import put

LOG = "/api/memory/injections"


def added(operator: Caller, content: str = "The kettle is blue.", **fields: Any) -> int:
    body = {"content": content, "domain": "fact", **fields}
    return int(operator.post("/api/knowledge/chunks", body).body["id"])


def turn(agent: Caller, session_id: str = "chat-1", query: str = "kettle", **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = agent.post(
        "/api/context", {"query": query, "session_id": session_id, **fields}
    ).body
    return body


def ids(caller: Caller, address: str = "") -> list[int]:
    reply = caller.get(LOG + address)
    assert reply.status == 200, reply.body
    return [item["id"] for item in reply.body["items"]]


def test_a_turn_is_listed_with_what_was_true_of_it(agent: Caller, operator: Caller, viewer: Caller) -> None:
    row = added(operator)
    told = turn(agent, turn_id="t-1", window=5_000, model="small")
    [item] = viewer.get(LOG).body["items"]
    assert (item["id"], item["session_id"], item["legacy"]) == (told["injection_id"], "chat-1", False)
    assert (item["digest_ids"], item["hot_ids"], item["rag_ids"]) == ([], [], [row])
    assert item["approx_tokens"] == len(told["text"]) // 4
    assert item["stage_counts"] == {"effective_top_k": 5, "retrieved": 1, "trust_filtered": 0, "final": 1}
    assert item["kept"] == {
        "key": "the agent",
        "turn_id": "t-1",
        "model": "small",
        "window": 5_000,
        "text_sha256": hashlib.sha256(told["text"].encode()).hexdigest(),
        "sections": told["sections"],
        "budget": told["budget"],
        "sources": told["sources"],
    }


def test_the_list_is_narrowed_by_session_row_and_time(agent: Caller, operator: Caller) -> None:
    kettle, teapot = added(operator), added(operator, "The teapot is white.")
    first = turn(agent, "chat-1")["injection_id"]
    second = turn(agent, "chat-2", "teapot")["injection_id"]
    now = datetime.now(UTC)
    tomorrow, yesterday = (f"{now + timedelta(days=n):%Y-%m-%d}" for n in (1, -1))
    assert ids(operator) == [second, first]
    assert ids(operator, "?session_id=chat-1") == [first]
    assert ids(operator, f"?chunk_id={teapot}") == [second]
    assert ids(operator, f"?chunk_id={kettle}&session_id=chat-2") == []
    assert ids(operator, f"?since={yesterday}&until={tomorrow}") == [second, first]
    assert ids(operator, f"?since={tomorrow}") == []
    assert ids(operator, f"?until={yesterday}") == []
    assert ids(operator, "?chunk_id=commons:1") == []


def test_pages_go_through_all_turns_once(agent: Caller, operator: Caller) -> None:
    added(operator)
    made = [turn(agent)["injection_id"] for _ in range(5)]
    seen, cursor = [], ""
    while cursor is not None:
        body = operator.get(f"{LOG}?limit=2{cursor and '&cursor=' + cursor}").body
        seen += [item["id"] for item in body["items"]]
        cursor = body["next"]
    assert seen == made[::-1]


@pytest.mark.parametrize(
    "address", ["?cursor=x", "?since=soon", "?until=x", "?chunk_id=abc", "?limit=0", "?session=chat-1"]
)
def test_nonsense_is_refused(operator: Caller, address: str) -> None:
    assert operator.get(LOG + address).status == 422


def test_a_turn_is_read_beside_what_has_become_of_its_rows(agent: Caller, operator: Caller) -> None:
    put("chat-0", "Buy a kettle")
    kept, edited = added(operator), added(operator, "The kettle holds one litre.")
    rejected, deleted = added(operator, "A red kettle."), added(operator, "A green kettle.")
    on_demand = added(operator, "A kettle nobody needs.", delivery_policy="on_demand")
    told = turn(agent)
    operator.put(f"/api/knowledge/chunks/{edited}", {"content": "The kettle holds two litres."})
    operator.post(f"/api/memory/chunks/{rejected}/review", {"state": "rejected"})
    operator.delete(f"/api/knowledge/chunks/{deleted}")
    operator.delete("/api/memory/sessions/chat-0")
    body = operator.get(f"{LOG}/{told['injection_id']}").body
    entries = {item["id"]: item for item in body["items"]}
    assert {key: (item["available"], item["since"]) for key, item in entries.items()} == {
        "chat-0": (False, ["deleted"]),
        kept: (True, []),
        edited: (True, ["edited"]),
        rejected: (True, ["rejected"]),
        deleted: (False, ["deleted"]),
    }
    assert entries[deleted]["words"].startswith("- [fact] A green kettle. (stored ")
    assert entries[deleted]["chunk"] is None
    assert entries[rejected]["chunk"]["review_state"] == "rejected"
    assert entries[rejected]["review_state"] == "confirmed"
    assert (body["query"], body["left_out_total"], body["damage"]) == ("kettle", 1, None)
    assert body["left_out"] == [{"part": "hits", "id": on_demand, "reason": "on_demand"}]


def test_the_text_is_given_back_byte_for_byte(agent: Caller, operator: Caller) -> None:
    row = added(operator, "The kettle is blue: 蓝色 \u202e and 😀.")
    told = turn(agent)
    operator.delete(f"/api/knowledge/chunks/{row}")
    reply = operator.get(f"{LOG}/{told['injection_id']}/text")
    assert reply.status == 200
    assert reply.body == told["text"].encode()
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.headers["X-Content-SHA256"] == hashlib.sha256(reply.body).hexdigest()


def test_a_row_of_another_program_has_ids_and_no_text(operator: Caller) -> None:
    row = added(operator)
    fetch(
        INJECTIONS,
        "INSERT INTO injections (ts, session_id, digest_session_ids, hot_chunk_ids, rag_chunk_ids, approx_tokens)"
        " VALUES ('2026-11-30T12:00:00+00:00', 'chat-7', '[\"chat-0\"]', '[]', ?, 40)",
        (f"[{row}, 999]",),
    )
    [item] = operator.get(LOG).body["items"]
    assert (item["legacy"], item["kept"], item["rag_ids"]) == (True, None, [row, 999])
    body = operator.get(f"{LOG}/{item['id']}").body
    assert [(entry["id"], entry["available"], entry["words"]) for entry in body["items"]] == [
        ("chat-0", False, None),
        (row, False, None),  # the row of that number was stored after the turn
        (999, False, None),
    ]
    reply = operator.get(f"{LOG}/{item['id']}/text")
    assert (reply.status, reply.body["code"]) == (404, "not_found")


def test_damaged_words_are_not_shown_as_true(agent: Caller, operator: Caller) -> None:
    added(operator)
    injection_id = turn(agent)["injection_id"]
    fetch(INJECTIONS, "UPDATE injections SET pc_text_sha256 = ?", ("0" * 64,))
    reply = operator.get(f"{LOG}/{injection_id}/text")
    assert (reply.status, reply.body["code"]) == (410, "damaged")
    body = operator.get(f"{LOG}/{injection_id}")
    assert body.status == 200
    assert body.body["damage"]


@pytest.mark.parametrize("injection_id", ["1", "abc", "9" * 30, "-1"])
def test_a_turn_that_is_not_there_is_not_found(operator: Caller, injection_id: str) -> None:
    for address in (f"{LOG}/{injection_id}", f"{LOG}/{injection_id}/text"):
        reply = operator.get(address)
        assert (reply.status, reply.body["code"]) == (404, "not_found")
