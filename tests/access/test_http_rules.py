"""What every answer carries, and how the site is reached: host names, https, a sub-path."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from protoconsole.access.models import Operator

pytestmark = pytest.mark.usefixtures("store")

ROOT = Path(__file__).parents[2]
PASSWORD = "correct horse battery staple"
POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
}
OUR_VARIABLES = ("PROTOCONSOLE_", "PROTOAGENT_")


def probe(home: Path, requests: list[dict[str, str]], **env: str) -> list[Any]:
    """Send requests to a process of its own that has this environment."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OUR_VARIABLES)}
    env = {**clean, "PROTOAGENT_HOME": str(home), "PROTOCONSOLE_PLAIN_STATIC": "1", **env}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("probe.py"))],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        env={**env, "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=60,
    )
    answers: list[Any] = json.loads(done.stdout)
    return answers


def header(answer: dict[str, Any], name: str) -> list[str]:
    return [value for key, value in answer["headers"] if key.lower() == name.lower()]


@pytest.mark.parametrize("address", ["/login/", "/keys/", "/nothing/here/"])
def test_every_answer_forbids_frames_inline_code_and_guessing(as_operator: Client, address: str) -> None:
    headers = as_operator.get(address).headers
    assert set(headers["Content-Security-Policy"].split("; ")) == POLICY
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store" or "no-store" in headers["Cache-Control"]


@pytest.mark.parametrize("address", ["/login/", "/keys/", "/password/"])
def test_no_page_has_inline_script_or_style(as_operator: Client, address: str) -> None:
    text = as_operator.get(address, follow=True).text
    assert "<style" not in text
    assert " style=" not in text
    assert " onclick=" not in text
    assert text.count("<script") == text.count("<script src=")


@pytest.mark.parametrize("secure", [False, True])
def test_cookies_are_secure_exactly_over_https(client: Client, operator: Operator, secure: bool) -> None:
    page = client.get("/login/", secure=secure)
    fields = {"username": "olive", "password": PASSWORD}
    entered = client.post("/login/", fields, secure=secure)
    cookies = [*page.cookies.values(), *entered.cookies.values()]
    assert {cookie.key for cookie in cookies} == {"protoconsole_csrf", "protoconsole_session"}
    assert {bool(cookie["secure"]) for cookie in cookies} == {secure}
    assert {(cookie["samesite"], bool(cookie["httponly"])) for cookie in cookies} == {("Lax", True)}


def test_a_session_lasts_fourteen_days(client: Client, operator: Operator) -> None:
    client.post("/login/", {"username": "olive", "password": PASSWORD})
    assert client.cookies["protoconsole_session"]["max-age"] == 1_209_600


def test_a_host_name_that_is_not_ours_is_told_what_to_do(client: Client) -> None:
    response = client.get("/login/", headers={"Host": "evil.example"})
    assert response.status_code == 400
    assert "PROTOCONSOLE_HOSTS" in response.text
    assert "<form" not in response.text


def test_a_program_is_told_in_json(client: Client) -> None:
    response = client.get("/api/knowledge/stats", headers={"Host": "evil.example"})
    assert (response.status_code, response.json()["code"]) == (400, "bad_request")
    assert "PROTOCONSOLE_HOSTS" in response.json()["detail"]


def test_the_settings_are_not_those_of_a_workshop() -> None:
    assert settings.DEBUG is False
    assert settings.TIME_ZONE == "UTC"
    assert settings.USE_TZ


@pytest.mark.processes
def test_named_hosts_are_answered_and_no_others(tmp_path: Path) -> None:
    hosts = ["localhost:8000", "127.0.0.1", "[::1]:8000", "console.example", "a.wide.example", "evil.example"]
    answers = probe(
        tmp_path / "home",
        [{"path": "/login/", "host": host} for host in hosts],
        PROTOCONSOLE_HOSTS="console.example:8443, .wide.example,",
    )
    assert [answer["status"] for answer in answers] == [200, 200, 200, 200, 200, 400]


@pytest.mark.processes
def test_the_site_works_below_a_sub_path_stripped_or_not(tmp_path: Path) -> None:
    paths = [
        "/login/",
        "/console/login/",
        "/keys/",
        "/console/keys/",
        "/static/css/base.css",
        "/console/static/css/base.css",
        "/consoles/login/",
    ]
    answers = probe(tmp_path / "home", [{"path": path} for path in paths], PROTOCONSOLE_BASE_PATH="console/")
    assert [answer["status"] for answer in answers] == [200, 200, 302, 302, 200, 200, 404]
    for page in answers[:2]:
        assert 'href="/console/static/css/base.css"' in page["text"]
        assert "Path=/console/;" in header(page, "Set-Cookie")[0] + ";"
    for away in answers[2:4]:
        assert header(away, "Location") == ["/console/login/?next=%2Fconsole%2Fkeys%2F"]


@pytest.mark.processes
def test_a_form_is_taken_behind_a_proxy_that_ends_tls(tmp_path: Path) -> None:
    def form(origin: str) -> dict[str, str]:
        token = "a" * 32
        return {
            "path": "/logout/",
            "method": "POST",
            "host": "console.example",
            "HTTP_ORIGIN": origin,
            "HTTP_COOKIE": f"protoconsole_csrf={token}",
            "HTTP_X_CSRFTOKEN": token,
        }

    origins = ["https://console.example", "http://console.example", "https://evil.example"]
    answers = probe(
        tmp_path / "home", [form(origin) for origin in origins], PROTOCONSOLE_HOSTS="console.example"
    )
    assert [answer["status"] for answer in answers] == [302, 302, 403]
