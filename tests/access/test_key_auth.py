"""Keys at the door of the API: 401 before 403 before 422."""

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client
from django.urls import path
from ninja import NinjaAPI, Schema

from protoconsole.access.api_auth import allow, install_errors
from protoconsole.access.keys import revoke
from protoconsole.access.models import ApiKey
from protoconsole.access.sessions import claim_session
from protoconsole.actors import Role

pytestmark = [pytest.mark.usefixtures("db"), pytest.mark.urls(__name__)]

api = NinjaAPI(urls_namespace="key-auth")
install_errors(api)


class Body(Schema):
    number: int


@api.post("/things", auth=allow(Role.OPERATOR, Role.AGENT))
def things(request: HttpRequest, body: Body) -> dict[str, Any]:
    actor = request.actor  # type: ignore[attr-defined]
    return {"name": actor.name, "role": actor.role, "session_id": actor.session_id}


urlpatterns = [path("api/", api.urls)]

GOOD = {"number": 1}

MakeKey = Callable[..., str]


def post(client: Client, body: object = GOOD, **headers: str) -> tuple[int, Any]:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    response = client.post("/api/things", body, "application/json", headers=names)
    return response.status_code, response.json()


@pytest.mark.parametrize("role", [Role.AGENT, Role.OPERATOR])
def test_a_role_that_may_comes_in_by_either_header(client: Client, make_key: MakeKey, role: Role) -> None:
    token = make_key(role, "roxy")
    answer = {"name": "roxy", "role": role, "session_id": None}
    assert post(client, Authorization=f"Bearer {token}") == (200, answer)
    assert post(client, Authorization=f"bearer  {token}") == (200, answer)
    assert post(client, X_API_Key=token) == (200, answer)


def test_a_key_is_never_taken_from_the_address(client: Client, make_key: MakeKey) -> None:
    token = make_key(Role.AGENT)
    for name in ("key", "X-API-Key", "api_key", "token", "access_token"):
        assert client.post(f"/api/things?{name}={token}", GOOD, "application/json").status_code == 401


def test_a_key_is_never_taken_from_a_cookie(client: Client, make_key: MakeKey) -> None:
    client.cookies["X-API-Key"] = make_key(Role.AGENT)
    assert post(client)[0] == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer pc_aUNKNOWN"},
        {"Authorization": "Basic cGM6YQ=="},
        {"X_API_Key": ""},
        {"X_API_Key": "pc_aUNKNOWN"},
        {"X_API_Key": "\xff\xfe"},
    ],
)
def test_without_a_known_key_the_answer_is_401(client: Client, headers: dict[str, str]) -> None:
    status, answer = post(client, body={"number": "wrong"}, X_Session_Id="..", **headers)
    assert (status, answer["code"]) == (401, "unauthorized")
    assert set(answer) == {"code", "detail"}


def test_a_401_names_the_scheme(client: Client) -> None:
    response = client.post("/api/things", GOOD, "application/json")
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_revoked_key_is_unknown(client: Client, make_key: MakeKey) -> None:
    token = make_key(Role.AGENT, "roxy")
    revoke("roxy")
    assert post(client, X_API_Key=token)[0] == 401


@pytest.mark.parametrize("role", [Role.PLUGIN, Role.VIEWER])
def test_a_role_that_may_not_is_403_before_the_body_or_the_session_is_looked_at(
    client: Client, make_key: MakeKey, role: Role
) -> None:
    for body in (GOOD, {"number": "wrong"}, {}):
        status, answer = post(client, body, X_API_Key=make_key(role, f"k{len(str(body))}"), X_Session_Id="..")
        assert (status, answer["code"]) == (403, "forbidden")
        assert "operator, agent" in answer["detail"]


@pytest.mark.parametrize("session_id", ["", ".", "..", "a/b", "x" * 201, "a b"])
def test_a_session_id_that_cannot_be_is_422_naming_the_header(
    client: Client, make_key: MakeKey, session_id: str
) -> None:
    status, answer = post(client, X_API_Key=make_key(Role.AGENT), X_Session_Id=session_id)
    assert (status, answer["code"]) == (422, "invalid")
    assert answer["detail"].startswith("X-Session-Id: ")


def test_the_session_comes_from_the_header(client: Client, make_key: MakeKey) -> None:
    _, answer = post(client, X_API_Key=make_key(Role.AGENT), X_Session_Id="a2a:1")
    assert answer["session_id"] == "a2a:1"


def test_another_agent_cannot_use_a_session(client: Client, make_key: MakeKey) -> None:
    first, second = make_key(Role.AGENT, "first"), make_key(Role.AGENT, "second")
    assert post(client, X_API_Key=second, X_Session_Id="chat-1")[0] == 200  # to name it is not to claim it
    claim_session(ApiKey.objects.get(name="first"), "chat-1")
    status, answer = post(client, {"number": "wrong"}, X_API_Key=second, X_Session_Id="chat-1")
    assert (status, answer["code"]) == (403, "forbidden")
    assert post(client, X_API_Key=make_key(Role.OPERATOR), X_Session_Id="chat-1")[0] == 200
    assert post(client, X_API_Key=first, X_Session_Id="chat-1")[0] == 200


def test_a_body_that_cannot_be_is_422_for_a_role_that_may(client: Client, make_key: MakeKey) -> None:
    assert post(client, {"number": "wrong"}, X_API_Key=make_key(Role.AGENT))[0] == 422


def test_the_document_of_the_api_offers_both_headers() -> None:
    schemes = api.get_openapi_schema()["components"]["securitySchemes"]
    assert schemes["BearerKey"]["scheme"] == "bearer"
    assert (schemes["HeaderKey"]["in"], schemes["HeaderKey"]["name"]) == ("header", "X-API-Key")
