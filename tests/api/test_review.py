"""Verdicts over the API."""

import pytest

from tests.api.conftest import Caller
from tests.api.test_chunks import CHUNKS, added


def review_of(row: dict[str, object]) -> str:
    return f"/api/memory/chunks/{row['id']}/review"


@pytest.mark.parametrize("state", ["confirmed", "rejected", "pending"])
def test_a_verdict_stands_and_its_reason_is_in_the_trail(
    operator: Caller, plugin: Caller, state: str
) -> None:
    row = added(plugin, review_state=None)
    operator.post(review_of(row), {"state": "rejected" if state == "pending" else "pending"})
    reply = operator.post(review_of(row), {"state": state, "reason": "because"})
    assert (reply.status, reply.body["id"], reply.body["review_state"]) == (200, row["id"], state)
    assert reply.body["valid"] is (state != "rejected")
    assert reply.headers["ETag"] == operator.get(f"{CHUNKS}/{row['id']}").headers["ETag"]
    latest = operator.get(f"{CHUNKS}/{row['id']}/audit").body["items"][0]
    assert (latest["action"], latest["note"], latest["after"]["review_state"]) == (state, "because", state)


def test_a_verdict_on_a_stale_copy_is_412(operator: Caller, plugin: Caller) -> None:
    row = added(plugin)
    tag = operator.get(f"{CHUNKS}/{row['id']}").headers["ETag"]
    operator.post(review_of(row), {"state": "rejected"})
    assert operator.post(review_of(row), {"state": "confirmed"}, If_Match=tag).status == 412
    assert operator.get(f"{CHUNKS}/{row['id']}").body["review_state"] == "rejected"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "state"),
        ({"state": "maybe"}, "state"),
        ({"state": None}, "state"),
        ({"state": "pending", "why": 1}, "why"),
    ],
)
def test_what_is_no_verdict_is_refused(operator: Caller, plugin: Caller, body: object, field: str) -> None:
    reply = operator.post(review_of(added(plugin)), body)
    assert (reply.status, reply.body["detail"].partition(":")[0]) == (422, field)


@pytest.mark.parametrize("row", ["7", "abc", "commons:1"])
def test_a_row_that_is_not_there_is_404(operator: Caller, row: str) -> None:
    assert operator.post(f"/api/memory/chunks/{row}/review", {"state": "pending"}).status == 404
