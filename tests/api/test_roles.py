"""The published table of routes and roles, against what is declared and against what happens."""

import re
from pathlib import Path
from typing import Any

import pytest

from protoconsole.actors import Role
from protoconsole.api import api
from tests.api.conftest import Caller, MakeCaller

DOCUMENT = Path(__file__).parents[2] / "docs" / "api.md"
_ROW = re.compile(r"^\| `(GET|POST|PUT|DELETE) (/\S+)` \|(.+)\|$", re.MULTILINE)
COLUMNS = (Role.VIEWER, Role.OPERATOR, Role.AGENT, Role.PLUGIN)


def published() -> dict[tuple[str, str], frozenset[Role] | None]:
    """Read the table: the roles of each route, None where it is open."""
    table: dict[tuple[str, str], frozenset[Role] | None] = {}
    for method, path, cells in _ROW.findall(DOCUMENT.read_text("utf-8")):
        words = [cell.strip() for cell in cells.split("|")]
        assert len(words) == len(COLUMNS)
        assert set(words) in ({"open"}, {"yes"}, {"yes", "–"})
        roles = frozenset(role for role, word in zip(COLUMNS, words, strict=True) if word == "yes")
        table[method, path] = None if "open" in words else roles
    return table


def declared() -> dict[tuple[str, str], Any]:
    paths = api.get_openapi_schema(path_prefix="")["paths"]
    return {
        (method.upper(), path): frozenset(operation["x-roles"]) if "x-roles" in operation else None
        for path, operations in paths.items()
        for method, operation in operations.items()
    }


TABLE = sorted(published().items(), key=str)
CLOSED = [(method, path, roles) for (method, path), roles in TABLE if roles is not None]


def test_the_document_lists_exactly_the_routes_and_their_roles() -> None:
    assert published() == declared()


@pytest.mark.parametrize(("method", "path", "roles"), CLOSED)
def test_each_role_comes_as_far_as_the_document_says(
    caller: MakeCaller, anonymous: Caller, method: str, path: str, roles: frozenset[Role]
) -> None:
    address = path.replace("{chunk_id}", "not-a-number")
    nonsense = None if method == "GET" else ["no object"]
    for role in COLUMNS:
        reply = caller(role)(method, address, nonsense)
        if role in roles:
            assert reply.status in (200, 404, 422), (role, reply)
        else:
            assert (reply.status, reply.body["code"]) == (403, "forbidden"), role
    reply = anonymous(method, address, nonsense, X_Session_Id="..")
    assert (reply.status, reply.body["code"], reply.headers["WWW-Authenticate"]) == (
        401,
        "unauthorized",
        "Bearer",
    )


@pytest.mark.parametrize("path", [path for (_, path), roles in TABLE if roles is None])
def test_what_is_open_needs_no_key(anonymous: Caller, path: str) -> None:
    assert anonymous.get(path).status == 200


def test_the_description_names_the_roles_and_every_kind_of_refusal() -> None:
    for operations in api.get_openapi_schema(path_prefix="")["paths"].values():
        for operation in operations.values():
            if "x-roles" in operation:
                assert ", ".join(operation["x-roles"]) in operation["description"]
                assert {401, 403, 422, 503} <= set(operation["responses"])
            if "requestBody" in operation:
                assert {400, 413, 415} <= set(operation["responses"])
