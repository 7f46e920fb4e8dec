"""Every refusal has the same shape, whoever refuses."""

import json
from typing import Any

import pytest
from django.test import Client

from knowledge import queries
from protoconsole.errors import StoreBusy
from tests.api.conftest import Caller
from tests.api.test_chunks import CHUNKS

SHAPE = {"code", "detail"}


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    ["/api/", "/api/nothing", "/api/knowledge/", "/api/knowledge/chunks/1/x", "/api/knowledge/chunks/"],
)
def test_an_unknown_address_is_404(operator: Caller, method: str, path: str) -> None:
    reply = operator(method, path)
    assert (reply.status, reply.body["code"], set(reply.body)) == (404, "not_found", SHAPE)


def test_a_method_that_an_address_does_not_take_is_405(operator: Caller) -> None:
    reply = operator("PATCH", f"{CHUNKS}/1")
    assert (reply.status, reply.body["code"], set(reply.body)) == (405, "method_not_allowed", SHAPE)
    assert set(reply.headers["Allow"].split(", ")) == {"GET", "PUT", "DELETE"}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"\xff\xfe\xff",
        b'{"content": NaN}',
        b'{"content": "a", "content": "b"}',
        b"[" * 100_000,
        b"1" * 5_000,
    ],
)
def test_a_body_that_is_no_json_is_400_or_422(operator: Caller, body: bytes) -> None:
    response = operator.client.generic(
        "POST", CHUNKS, body, "application/json", headers={"X-API-Key": operator.token}
    )
    assert response.status_code == (422 if body == b"" else 400)
    assert set(response.json()) == SHAPE


@pytest.mark.parametrize("body", [b"[]", b"null", b'"x"', b"7"])
def test_a_body_that_is_no_object_is_422_naming_the_body(operator: Caller, body: bytes) -> None:
    response = operator.client.generic(
        "POST", CHUNKS, body, "application/json", headers={"X-API-Key": operator.token}
    )
    assert (response.status_code, response.json()["detail"].partition(":")[0]) == (422, "body")


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_a_body_of_another_type_is_415(operator: Caller, content_type: str) -> None:
    response = operator.client.generic(
        "POST", CHUNKS, b'{"content": "x"}', content_type, headers={"X-API-Key": operator.token}
    )
    assert (response.status_code, response.json()["code"]) == (415, "unsupported_media_type")


def test_a_body_that_is_too_large_is_413(operator: Caller, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000
    reply = operator.post(CHUNKS, {"content": "x" * 1_000})
    assert (reply.status, reply.body["code"], set(reply.body)) == (413, "too_large", SHAPE)


def test_every_fault_of_a_body_is_in_one_sentence(operator: Caller) -> None:
    reply = operator.post(CHUNKS, {"heading": 5, "memory_kind": "poem", "colour": "red"})
    assert reply.status == 422
    faults = dict(fault.split(": ", 1) for fault in reply.body["detail"].split("; ") if ": " in fault)
    assert set(faults) == {"content", "heading", "memory_kind", "colour"}
    assert '"poem" is not allowed' in faults["memory_kind"]


def test_a_busy_store_is_503_with_a_time_to_come_back(
    operator: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*args: Any) -> None:
        raise StoreBusy("another program holds the lock")

    monkeypatch.setattr(queries, "get", busy)
    reply = operator.get(f"{CHUNKS}/1")
    assert (reply.status, reply.body["code"], reply.headers["Retry-After"]) == (503, "unavailable", "1")


@pytest.mark.parametrize("debug", [False, True])
def test_an_unforeseen_fault_is_500_without_a_trace(
    operator: Caller, monkeypatch: pytest.MonkeyPatch, settings: Any, debug: bool
) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("a secret of the inside")

    settings.DEBUG = debug
    monkeypatch.setattr(queries, "get", broken)
    reply = operator.get(f"{CHUNKS}/1")
    assert (reply.status, reply.body["code"], set(reply.body)) == (500, "internal", SHAPE)
    assert "secret" not in json.dumps(reply.body)


def test_a_wrong_host_is_told_in_json(store: object) -> None:
    response = Client(headers={"Host": "evil.example"}).get(CHUNKS)
    assert (response.status_code, set(response.json())) == (400, SHAPE)


def test_answers_are_kept_out_of_caches(operator: Caller) -> None:
    assert "no-store" in operator.get(CHUNKS).headers["Cache-Control"]
