"""A client for each role, over a store of its own."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from knowledge.adoption import Opening
from protoconsole.access.keys import create_key
from protoconsole.actors import Role


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, read once."""

    status: int
    body: Any
    headers: dict[str, str]


@dataclass(slots=True)
class Caller:
    """Calls the API with one key, or with none."""

    client: Client
    token: str | None

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        """Send a body as JSON; `If_Match="x"` is the header If-Match."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            names["Authorization"] = f"Bearer {self.token}"
        data = b"" if body is None else json.dumps(body).encode()
        response = self.client.generic(method, path, data, "application/json", headers=names)
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        content = response.json() if is_json and response.content else response.content
        return Reply(response.status_code, content, dict(response.headers))

    def get(self, path: str, **headers: str) -> Reply:
        return self("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Reply:
        return self("POST", path, {} if body is None else body, **headers)

    def put(self, path: str, body: Any, **headers: str) -> Reply:
        return self("PUT", path, body, **headers)

    def delete(self, path: str, **headers: str) -> Reply:
        return self("DELETE", path, **headers)


MakeCaller = Callable[..., Caller]


@pytest.fixture
def caller(store: Opening) -> MakeCaller:
    """Make a caller with a new key of a role."""

    def make(role: Role, name: str = "", **more: bool) -> Caller:
        _, token = create_key(name or f"the {role}", role, created_by="tests", **more)
        return Caller(Client(raise_request_exception=False), token)

    return make


@pytest.fixture
def anonymous(store: Opening) -> Caller:
    return Caller(Client(raise_request_exception=False), None)


@pytest.fixture
def operator(caller: MakeCaller) -> Caller:
    return caller(Role.OPERATOR)


@pytest.fixture
def viewer(caller: MakeCaller) -> Caller:
    return caller(Role.VIEWER)


@pytest.fixture
def agent(caller: MakeCaller) -> Caller:
    return caller(Role.AGENT)


@pytest.fixture
def plugin(caller: MakeCaller) -> Caller:
    return caller(Role.PLUGIN)
