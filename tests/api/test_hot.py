"""The always-on rows over the API."""

from typing import Any

from tests.api.conftest import Caller

HOT = "/api/memory/hot"


def pinned(operator: Caller, content: str = "Speak plainly.") -> dict[str, Any]:
    row: dict[str, Any] = operator.post("/api/knowledge/chunks", {"content": content, "domain": "hot"}).body
    return row


def test_rows_come_in_the_order_of_delivery_and_say_whether_they_enter(
    operator: Caller, agent: Caller, viewer: Caller
) -> None:
    rows = [pinned(operator, "x" * 4_000), pinned(operator, "y" * 3_000), pinned(operator)]
    body = viewer.get(HOT).body
    assert [(item["id"], item["injecting"], item["why_not"]) for item in body["items"]] == [
        (rows[2]["id"], True, None),
        (rows[1]["id"], True, None),
        (rows[0]["id"], False, "cap"),
    ]
    assert body["next"] is None
    assert body["items"][0] == rows[2] | {"injecting": True, "why_not": None}
    told = agent.post("/api/context", {"query": "x"}).body["hot_ids"]
    assert told == [item["id"] for item in body["items"] if item["injecting"]]


def test_an_edit_is_a_new_row_with_its_etag(operator: Caller) -> None:
    row = pinned(operator)
    reply = operator.put(f"{HOT}/{row['id']}", {"content": "Speak briefly."})
    assert (reply.status, reply.body["content"], reply.body["injecting"]) == (200, "Speak briefly.", True)
    assert reply.body["id"] != row["id"]
    assert reply.headers["ETag"] == operator.get(f"/api/knowledge/chunks/{reply.body['id']}").headers["ETag"]


def test_another_policy_unpins(operator: Caller) -> None:
    row = pinned(operator)
    reply = operator.put(f"{HOT}/{row['id']}", {"delivery_policy": "retrieved"})
    assert (reply.body["id"], reply.body["injecting"]) == (row["id"], False)
    assert operator.get(HOT).body["items"] == []
    assert operator.put(f"{HOT}/{row['id']}", {"delivery_policy": "always"}).status == 404


def test_an_expiry_is_set_in_place(operator: Caller) -> None:
    row = pinned(operator)
    reply = operator.put(f"{HOT}/{row['id']}", {"expires_at": "2026-01-01"})
    assert (reply.body["id"], reply.body["injecting"], reply.body["why_not"]) == (row["id"], False, "expired")


def test_a_stale_copy_changes_nothing(operator: Caller) -> None:
    row = pinned(operator)
    address = f"{HOT}/{row['id']}"
    assert operator.put(address, {"content": "y"}, If_Match='"old"').status == 412
    assert operator.delete(address, If_Match='"old"').status == 412
    assert operator.get(HOT).body["items"][0]["content"] == "Speak plainly."


def test_deleting_is_for_good(operator: Caller, viewer: Caller) -> None:
    row = pinned(operator)
    assert viewer.delete(f"{HOT}/{row['id']}").status == 403
    assert operator.delete(f"{HOT}/{row['id']}").status == 204
    assert operator.get(f"/api/knowledge/chunks/{row['id']}").status == 404


def test_rows_that_are_not_always_on_are_not_here(operator: Caller) -> None:
    plain = operator.post("/api/knowledge/chunks", {"content": "x"}).body["id"]
    for row_id in (plain, 999, "abc", "commons:1"):
        assert operator.put(f"{HOT}/{row_id}", {"content": "y"}).status == 404
        assert operator.delete(f"{HOT}/{row_id}").status == 404
    assert operator.put(f"{HOT}/{plain}", {"contents": "y"}).status in (404, 422)
    assert operator.get(f"/api/knowledge/chunks/{plain}").body["content"] == "x"


def test_unknown_fields_and_cursors_are_refused(operator: Caller) -> None:
    row = pinned(operator)
    assert operator.put(f"{HOT}/{row['id']}", {"pinned": True}).status == 422
    assert operator.get(f"{HOT}?cursor=nonsense").status == 422
    assert operator.get(f"{HOT}?limit=0").status == 422
