"""What agents and plugins must not see, by no call."""

import json
from typing import Any

import pytest

from protoconsole.actors import Role
from tests.api.conftest import Caller, MakeCaller
from tests.api.test_chunks import CHUNKS, added

SECRET = "zanzibar"


@pytest.fixture
def hidden(operator: Caller, plugin: Caller) -> list[dict[str, Any]]:
    """A rejected row, a row deleted with its source, a purged row and a rejected row of a chain."""
    rejected = added(plugin, f"{SECRET} one", domain="secret-domain", source="secret.md")
    operator.post(f"/api/memory/chunks/{rejected['id']}/review", {"state": "rejected"})
    deleted = added(operator, f"{SECRET} two", source="gone.md")
    operator.post("/api/knowledge/delete-by-source", {"source": "gone.md"})
    purged = added(plugin, f"{SECRET} three", domain="scratch")
    plugin.post("/api/knowledge/purge", {"domain": "scratch"})
    revised = operator.put(f"{CHUNKS}/{rejected['id']}", {"content": f"{SECRET} four"}).body
    return [rejected, deleted, purged, revised]


READS = [
    "/api/knowledge/search?q=zanzibar&include_superseded=true",
    "/api/knowledge/search?include_superseded=true&k=200",
    "/api/knowledge/search?review_state=rejected&include_superseded=true",
    "/api/knowledge/chunks?include_superseded=true",
    "/api/knowledge/chunks?review_state=rejected",
    "/api/knowledge/chunks?source=gone.md&include_superseded=true",
]


@pytest.mark.parametrize("role", [Role.AGENT, Role.PLUGIN])
@pytest.mark.parametrize("path", READS)
def test_no_list_shows_them(caller: MakeCaller, hidden: list[dict[str, Any]], role: Role, path: str) -> None:
    assert caller(role, "reader").get(path).body["items"] == []


@pytest.mark.parametrize("role", [Role.AGENT, Role.PLUGIN])
def test_no_address_shows_them(caller: MakeCaller, hidden: list[dict[str, Any]], role: Role) -> None:
    reader = caller(role, "reader")
    for row in hidden:
        for part in ("", "/history"):
            reply = reader.get(f"{CHUNKS}/{row['id']}{part}")
            assert (reply.status, reply.body["code"]) == (404, "not_found")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_people_who_govern_see_them(caller: MakeCaller, hidden: list[dict[str, Any]], role: Role) -> None:
    reader = caller(role, "reader")
    assert all(reader.get(f"{CHUNKS}/{row['id']}").status == 200 for row in hidden)
    found = reader.get("/api/knowledge/search?q=zanzibar&include_superseded=true").body["items"]
    assert len(found) == len(hidden)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_recall", {"query": SECRET, "k": 50, "include_superseded": True}),
        ("memory_list", {"limit": 50}),
        ("memory_stats", {}),
    ],
)
def test_no_tool_shows_them(
    agent: Caller, hidden: list[dict[str, Any]], tool: str, arguments: dict[str, Any]
) -> None:
    answer = json.dumps(agent.post(f"/api/tools/{tool}", arguments).body)
    for word in (SECRET, "secret-domain", "secret.md", "gone.md", "scratch"):
        assert word not in answer


def test_an_agent_cannot_forget_what_it_cannot_see(agent: Caller, hidden: list[dict[str, Any]]) -> None:
    for row in hidden:
        assert agent.post("/api/tools/forget_memory", {"chunk_id": row["id"]}).status == 404


def test_an_operators_tools_recall_no_rejected_row_either(
    operator: Caller, hidden: list[dict[str, Any]]
) -> None:
    recalled = operator.post("/api/tools/memory_recall", {"query": SECRET, "include_superseded": True}).body
    assert recalled["data"]["items"] == []


def test_a_history_leaves_out_what_is_hidden(operator: Caller, plugin: Caller, agent: Caller) -> None:
    first = added(plugin, "One.")
    operator.post(f"/api/memory/chunks/{first['id']}/review", {"state": "rejected"})
    second = operator.put(f"{CHUNKS}/{first['id']}", {"content": "Two."}).body
    operator.post(f"/api/memory/chunks/{second['id']}/review", {"state": "confirmed"})
    path = f"{CHUNKS}/{second['id']}/history"
    assert [row["content"] for row in agent.get(path).body["items"]] == ["Two."]
    assert len(operator.get(path).body["items"]) == 2
