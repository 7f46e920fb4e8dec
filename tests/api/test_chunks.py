"""Rows over the API: added, read, edited, deleted."""

from datetime import UTC, datetime, timedelta

import pytest

from protoconsole.actors import Role
from tests.api.conftest import Caller, MakeCaller

CHUNKS = "/api/knowledge/chunks"

COLUMNS = {
    "id", "content", "domain", "heading", "source", "source_type", "finding_type", "namespace", "epoch",
    "created_at", "updated_at", "invalidated_at", "invalidation_reason", "memory_kind", "subject",
    "review_state", "expires_at", "delivery_policy", "trust", "valid",
}  # fmt: skip


def added(
    caller: Caller, content: str = "The cluster has three nodes.", **fields: object
) -> dict[str, object]:
    reply = caller.post(CHUNKS, {"content": content, **fields})
    assert reply.status == 201, reply.body
    row: dict[str, object] = reply.body
    return row


def test_an_operators_row_is_confirmed_and_trusted(operator: Caller) -> None:
    row = added(
        operator, domain="preferences", heading="Cluster", subject="infra", epoch="v2", namespace="ops"
    )
    assert set(row) == COLUMNS
    assert (row["memory_kind"], row["delivery_policy"], row["review_state"]) == (
        "profile",
        "retrieved",
        "confirmed",
    )
    assert (row["source"], row["source_type"], row["trust"]) == ("console", "operator", "operator")
    assert (row["subject"], row["epoch"], row["namespace"]) == ("infra", "v2", "ops")
    assert (row["valid"], row["invalidated_at"], row["expires_at"]) == (True, None, None)


def test_a_plugins_row_is_pending_and_says_who_added_it(plugin: Caller) -> None:
    row = added(plugin, domain="finding", source_type="html")
    assert (row["review_state"], row["trust"]) == ("pending", "external")
    assert row["source"] == "plugin:the plugin"


def test_a_new_row_has_an_etag_that_reading_it_repeats(operator: Caller) -> None:
    reply = operator.post(CHUNKS, {"content": "x"})
    assert reply.headers["ETag"].startswith('"')
    assert operator.get(f"{CHUNKS}/{reply.body['id']}").headers["ETag"] == reply.headers["ETag"]


def test_days_become_a_moment(operator: Caller) -> None:
    before = datetime.now(UTC)
    row = added(operator, expires_in_days=10)
    expires = datetime.fromisoformat(str(row["expires_at"]))
    assert before + timedelta(days=10) <= expires <= datetime.now(UTC) + timedelta(days=10)


@pytest.mark.parametrize("days", [0, 3651, -1, 1.5, "7", True])
def test_days_out_of_range_are_refused(operator: Caller, days: object) -> None:
    reply = operator.post(CHUNKS, {"content": "x", "expires_in_days": days})
    assert (reply.status, reply.body["code"]) == (422, "invalid")
    assert reply.body["detail"].startswith("expires_in_days: ")


def test_two_ways_to_say_an_expiry_are_one_too_many(operator: Caller) -> None:
    reply = operator.post(CHUNKS, {"content": "x", "expires_in_days": 1, "expires_at": "2030-01-01"})
    assert reply.status == 422
    assert "expires_at" in reply.body["detail"]


def test_a_naive_time_is_utc(operator: Caller) -> None:
    assert added(operator, expires_at="2030-01-31T12:00:00")["expires_at"] == "2030-01-31T12:00:00+00:00"


def test_nothing_but_reasoning_is_dropped_and_said_so(operator: Caller) -> None:
    reply = operator.post(CHUNKS, {"content": "<think>hm</think>"})
    assert (reply.status, reply.body["outcome"]) == (200, "dropped")
    assert set(reply.body) == {"outcome", "detail"}
    assert operator.get(CHUNKS).body["items"] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("source_type", "operator"),
        ("source_type", " Manual "),
        ("source_type", "harvest"),
        ("review_state", "rejected"),
        ("review_state", "confirmed"),
    ],
)
def test_a_plugin_claims_nothing_above_its_role(plugin: Caller, field: str, value: str) -> None:
    reply = plugin.post(CHUNKS, {"content": "x", field: value})
    assert reply.status == 422
    assert reply.body["detail"].startswith(f"{field}: ")


def test_a_plugin_that_may_confirm_confirms(caller: MakeCaller) -> None:
    trusted = caller(Role.PLUGIN, may_confirm=True)
    assert added(trusted, review_state="confirmed")["review_state"] == "confirmed"


@pytest.mark.parametrize("field", ["id", "trust", "kind", "created_at"])
def test_an_unknown_field_is_refused_by_name(operator: Caller, field: str) -> None:
    reply = operator.post(CHUNKS, {"content": "x", field: 1})
    assert (reply.status, reply.body["detail"]) == (422, f"{field}: is not known here; leave it out")


def test_a_field_whose_name_is_no_text_is_refused_in_plain_characters(operator: Caller) -> None:
    reply = operator.post(CHUNKS, {"content": "x", "y\ud800": 1})
    assert reply.status == 422
    assert "y\\ud800" in reply.body["detail"]


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
@pytest.mark.parametrize("field", ["content", "heading", "source", "subject", "namespace", "epoch", "domain"])
def test_text_that_cannot_be_stored_is_refused_by_field(operator: Caller, field: str, text: str) -> None:
    reply = operator.post(CHUNKS, {"content": "x", field: text})
    assert reply.status == 422
    assert reply.body["detail"].startswith(f"{field}: holds ")


def test_a_text_of_the_greatest_length_is_kept_and_one_longer_is_refused(operator: Caller) -> None:
    assert len(str(added(operator, "é" * 100_000)["content"])) == 100_000
    assert operator.post(CHUNKS, {"content": "é" * 100_001}).status == 422


def test_blank_content_is_refused(operator: Caller) -> None:
    for content in ("", "  \n"):
        reply = operator.post(CHUNKS, {"content": content})
        assert (reply.status, reply.body["detail"][:8]) == (422, "content:")


def test_new_text_is_a_revision_that_answers_as_the_row_that_stands(operator: Caller, plugin: Caller) -> None:
    old = added(plugin, heading="Cluster", domain="finding", source_type="html")
    reply = operator.put(f"{CHUNKS}/{old['id']}", {"content": "The cluster has five nodes."})
    new = reply.body
    assert reply.status == 200
    assert new["id"] != old["id"]
    assert (new["content"], new["heading"], new["domain"]) == (
        "The cluster has five nodes.",
        "Cluster",
        "finding",
    )
    assert (new["review_state"], new["source_type"], new["source"]) == (
        "confirmed",
        "operator",
        old["source"],
    )
    gone = operator.get(f"{CHUNKS}/{old['id']}").body
    assert (gone["invalidation_reason"], gone["valid"]) == (f"superseded_by:{new['id']}", False)


def test_null_clears_and_absence_leaves(operator: Caller) -> None:
    row = added(operator, heading="H", expires_at="2030-01-01", delivery_policy="always")
    path = f"{CHUNKS}/{row['id']}"
    pinned = operator.put(path, {"delivery_policy": "on_demand"}).body
    assert (pinned["id"], pinned["heading"]) == (row["id"], "H")
    assert (pinned["expires_at"], pinned["delivery_policy"]) == ("2030-01-01T00:00:00+00:00", "on_demand")
    cleared = operator.put(path, {"expires_at": None}).body
    assert (cleared["id"], cleared["expires_at"], cleared["delivery_policy"]) == (
        row["id"],
        None,
        "on_demand",
    )
    bare = operator.put(path, {"heading": None}).body
    assert (bare["heading"], bare["content"]) == (None, row["content"])


@pytest.mark.parametrize("field", ["content", "delivery_policy"])
def test_what_cannot_be_cleared_is_refused_as_null(operator: Caller, field: str) -> None:
    reply = operator.put(f"{CHUNKS}/{added(operator)['id']}", {field: None})
    assert reply.status == 422
    assert reply.body["detail"].startswith(f"{field}: ")


def test_an_edit_of_nothing_changes_nothing(operator: Caller) -> None:
    row = added(operator)
    assert operator.put(f"{CHUNKS}/{row['id']}", {}).body == row


def test_a_replaced_row_cannot_be_edited(operator: Caller) -> None:
    row = added(operator)
    operator.put(f"{CHUNKS}/{row['id']}", {"content": "Newer."})
    reply = operator.put(f"{CHUNKS}/{row['id']}", {"content": "Newest."})
    assert (reply.status, reply.body["code"]) == (409, "conflict")


def test_a_delete_is_real(operator: Caller) -> None:
    path = f"{CHUNKS}/{added(operator)['id']}"
    reply = operator.delete(path)
    assert (reply.status, reply.body) == (204, b"")
    assert operator.get(path).status == 404
    assert operator.delete(path).status == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_change_from_a_stale_copy_is_412_and_changes_nothing(operator: Caller, method: str) -> None:
    reply = operator.post(CHUNKS, {"content": "First."})
    path, stale = f"{CHUNKS}/{reply.body['id']}", reply.headers["ETag"]
    operator.put(path, {"delivery_policy": "always"})
    body = {"content": "Lost."} if method == "PUT" else None
    for tag in (stale, f"W/{stale}", '"other"', "unquoted", f'{stale}, "other"'):
        refused = operator(method, path, body, If_Match=tag)
        assert (refused.status, refused.body["code"]) == (412, "stale")
    assert operator.get(path).body["content"] == "First."


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize("shape", ["{}", "W/{}", '"other", {}', "*"])
def test_a_change_from_the_present_copy_goes_through(operator: Caller, method: str, shape: str) -> None:
    reply = operator.post(CHUNKS, {"content": "First."})
    body = {"content": "Second."} if method == "PUT" else None
    path, tag = f"{CHUNKS}/{reply.body['id']}", shape.format(reply.headers["ETag"])
    assert operator(method, path, body, If_Match=tag).status in (200, 204)


def test_a_copy_that_is_still_good_is_304(operator: Caller) -> None:
    reply = operator.post(CHUNKS, {"content": "x"})
    path, tag = f"{CHUNKS}/{reply.body['id']}", reply.headers["ETag"]
    same = operator.get(path, If_None_Match=tag)
    assert (same.status, same.body, same.headers["ETag"]) == (304, b"", tag)
    assert operator.get(path, If_None_Match="*").status == 304
    assert operator.get(path, If_None_Match='"other"').status == 200
    operator.put(path, {"delivery_policy": "always"})
    assert operator.get(path, If_None_Match=tag).status == 200


def test_a_row_that_lapsed_is_not_taken_for_unchanged(operator: Caller) -> None:
    reply = operator.post(CHUNKS, {"content": "x", "expires_at": "2001-01-01"})
    read = operator.get(f"{CHUNKS}/{reply.body['id']}", If_None_Match=reply.headers["ETag"])
    assert (read.status, read.body["valid"]) == (200, False)


def test_revisions_are_listed_newest_first(operator: Caller) -> None:
    first = added(operator, "One.")
    second = operator.put(f"{CHUNKS}/{first['id']}", {"content": "Two."}).body
    for row in (first, second):
        history = operator.get(f"{CHUNKS}/{row['id']}/history").body
        assert [item["content"] for item in history["items"]] == ["Two.", "One."]
        assert history["next"] is None


def test_the_trail_outlives_the_row_and_has_pages(operator: Caller, viewer: Caller) -> None:
    path = f"{CHUNKS}/{added(operator)['id']}"
    operator.put(path, {"delivery_policy": "always"})
    operator.delete(path)
    trail = viewer.get(f"{path}/audit").body
    assert [entry["action"] for entry in trail["items"]] == ["deleted", "set", "added"]
    assert (trail["items"][1]["actor"], trail["items"][1]["surface"]) == ("the operator", "api")
    assert trail["items"][1]["before"] == {"delivery_policy": "retrieved"}
    first = viewer.get(f"{path}/audit?limit=2").body
    rest = viewer.get(f"{path}/audit?cursor={first['next']}").body
    assert first["items"] + rest["items"] == trail["items"]
    assert rest["next"] is None


@pytest.mark.parametrize("part", ["", "/history", "/audit"])
@pytest.mark.parametrize("row", ["999", "0", "-1", "abc", "commons:7", "1.5", "9" * 30, "%00", "1%20"])
def test_what_is_not_there_is_404(viewer: Caller, row: str, part: str) -> None:
    reply = viewer.get(f"{CHUNKS}/{row}{part}")
    assert (reply.status, reply.body["code"]) == (404, "not_found")


def test_a_list_goes_newest_first_page_by_page(operator: Caller) -> None:
    ids = [added(operator, f"Row {n}.")["id"] for n in range(5)]
    seen: list[object] = []
    path = f"{CHUNKS}?limit=2"
    for _ in range(3):
        page = operator.get(path).body
        seen += [item["id"] for item in page["items"]]
        path = f"{CHUNKS}?limit=2&cursor={page['next']}"
    assert (seen, page["next"]) == (ids[::-1], None)


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=201",
        "limit=x",
        "cursor=x",
        "cursor=",
        "kind=x",
        "min_trust=4",
        "deliverable=perhaps",
    ],
)
def test_a_parameter_that_cannot_be_is_refused_by_name(viewer: Caller, query: str) -> None:
    reply = viewer.get(f"{CHUNKS}?{query}")
    assert (reply.status, reply.body["code"]) == (422, "invalid")
    assert reply.body["detail"].startswith(f"{query.partition('=')[0]}: ")


def test_an_unknown_or_repeated_parameter_is_refused_by_name(operator: Caller) -> None:
    row = added(operator)
    assert operator.get(f"{CHUNKS}?domian=x").body["detail"].startswith("domian: ")
    assert operator.get(f"{CHUNKS}?domain=x&domain=y").body["detail"].startswith("domain: ")
    assert operator.get(f"{CHUNKS}?namespace=x&namespace=y").status == 200
    for method in ("GET", "PUT", "DELETE"):
        assert operator(method, f"{CHUNKS}/{row['id']}?force=1", {}).status == 422
    assert operator.get(f"{CHUNKS}/{row['id']}").body == row


def test_every_filter_narrows(operator: Caller, plugin: Caller) -> None:
    added(operator, "A.", domain="d1", namespace="n1", epoch="e1", source="s1", memory_kind="decision")
    added(plugin, "B.", domain="d2", namespace="n2", epoch="e2", source="s2", delivery_policy="on_demand")
    added(operator, "C.", domain="d2", source_type="chat")
    expected = {
        "domain=d1": "A.", "namespace=n1": "A.", "namespace=n1&namespace=n2": "B.A.", "namespace=": "C.",
        "epoch=e2": "B.", "kind=decision": "A.", "policy=on_demand": "B.", "review_state=pending": "C.B.",
        "source=s2": "B.", "min_trust=2": "C.A.", "min_trust=operator": "A.", "deliverable=true": "C.A.",
    }  # fmt: skip
    for query, contents in expected.items():
        items = operator.get(f"{CHUNKS}?{query}").body["items"]
        assert "".join(item["content"] for item in items) == contents, query
