"""The description of the API at its addresses."""

from typing import Any

import pytest
from django.urls.base import set_script_prefix

from tests.api.conftest import Caller


def test_the_description_is_open_and_complete(anonymous: Caller) -> None:
    reply = anonymous.get("/api/openapi.json")
    assert reply.status == 200
    assert reply.body["openapi"].startswith("3.")
    assert set(reply.body["components"]["securitySchemes"]) == {"BearerKey", "HeaderKey"}
    for operations in reply.body["paths"].values():
        for operation in operations.values():
            assert operation["summary"]
            assert all(answer["description"] for answer in operation["responses"].values())


def test_the_page_comes_from_this_server_under_a_policy_without_inline_script(anonymous: Caller) -> None:
    reply = anonymous.get("/api/docs")
    policy = reply.headers["Content-Security-Policy"]
    assert "'unsafe-inline'" not in policy
    assert "script-src 'self'" in policy
    assert b"//cdn" not in reply.body


@pytest.mark.parametrize("base", ["/console"])
def test_under_a_sub_path_every_address_has_it(anonymous: Caller, settings: Any, base: str) -> None:
    settings.FORCE_SCRIPT_NAME = settings.BASE_PATH = base
    settings.STATIC_URL = f"{base}/static/"
    set_script_prefix(f"{base}/")
    try:
        schema = anonymous.get("/api/openapi.json").body
        page = anonymous.get("/api/docs").body.decode()
    finally:
        set_script_prefix("/")
    assert all(path.startswith(f"{base}/") for path in schema["paths"])
    assert f'"{base}/api/openapi.json"' in page
    assert f'src="{base}/static/ninja/' in page
