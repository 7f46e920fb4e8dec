"""How requests reach the site: sub-path, proxies, IPv6, bodies of all sizes, static files."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from protoconsole.server import listen
from tests.processes.harness import RunningServer, running_server

LIMIT = 20 * 1024 * 1024
SIGNED = {"X-API-Key": "pc_made_up"}


class TestUnderASubPath:
    @pytest.fixture
    def server(self, root: Path) -> Iterator[RunningServer]:
        with running_server(root, env={"PROTOCONSOLE_BASE_PATH": "/console"}) as running:
            yield running

    def test_the_start_message_names_it(self, server: RunningServer) -> None:
        assert server.url.endswith("/console/")
        assert server.signin_link and "/console/welcome/" in server.signin_link

    @pytest.mark.parametrize("prefix", ["console/", ""], ids=["left on", "stripped"])
    def test_pages_and_their_files_are_found(self, server: RunningServer, prefix: str) -> None:
        origin = server.url.removesuffix("console/")
        page = httpx.get(f"{origin}{prefix}login/")
        assert page.status_code == 200
        paths = re.findall(r'(?:href|src|action)="(/[^"#]*)', page.text)
        assert paths
        assert [path for path in paths if not path.startswith("/console/")] == []
        style = next(path for path in paths if path.endswith(".css"))
        reached = style if prefix else style.removeprefix("/console")
        assert httpx.get(f"{origin.rstrip('/')}{reached}").headers["content-type"].startswith("text/css")


def test_ipv6(root: Path) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with running_server(root, "--host", "::1") as server:
        assert server.url.startswith("http://[::1]:")
        assert httpx.get(f"{server.url}login/").status_code == 200


def test_connections_send_at_once() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


class TestBodies:
    def test_one_that_is_too_large_is_refused_in_json(self, server: RunningServer) -> None:
        answer = httpx.post(f"{server.url}login/", content=b"x" * (LIMIT + 1), headers=SIGNED)
        assert answer.status_code == 413
        assert answer.json()["code"] == "too_large"
        assert set(answer.json()) == {"code", "detail"}

    def test_also_when_its_length_is_not_told(self, server: RunningServer) -> None:
        answer = httpx.post(
            f"{server.url}login/", content=(b"x" * 1_000_000 for _ in range(22)), headers=SIGNED
        )
        assert answer.status_code == 413

    def test_one_at_the_limit_is_taken(self, server: RunningServer) -> None:
        assert httpx.post(f"{server.url}login/", content=b"x" * LIMIT, headers=SIGNED).status_code == 403

    def test_one_of_a_stranger_has_a_limit_of_its_own(self, server: RunningServer) -> None:
        sent = [httpx.post(f"{server.url}login/", content=b"x" * size) for size in (1_048_576, 1_048_577)]
        assert [answer.status_code for answer in sent] == [403, 413]

    def test_a_form_in_pieces_is_read_whole(self, server: RunningServer) -> None:
        with httpx.Client() as client:
            page = client.get(f"{server.url}login/")
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
            assert token
            form = f"csrfmiddlewaretoken={token.group(1)}&username=nobody&password=wrong".encode()
            kind = {"content-type": "application/x-www-form-urlencoded"}
            pieces = (form[at : at + 10] for at in range(0, len(form), 10))
            answer = client.post(f"{server.url}login/", content=pieces, headers=kind)
            assert answer.status_code == 422


def test_a_proxy_on_this_machine_says_who_asks_and_how(server: RunningServer) -> None:
    said = {"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https"}
    answer = httpx.get(f"{server.url}login/", headers=said)
    assert "secure" in answer.headers["set-cookie"].lower()
    assert server.stop() == 0
    assert "203.0.113.9 GET /login/ 200" in server.stderr_text()


def test_an_unknown_host_name_is_refused(server: RunningServer) -> None:
    assert httpx.get(f"{server.url}login/", headers={"host": "evil.example"}).status_code == 400


def test_files_have_hashed_names_and_are_kept_for_ever(root: Path) -> None:
    with running_server(root, env={"PROTOCONSOLE_PLAIN_STATIC": "0"}) as server:
        page = httpx.get(f"{server.url}login/")
        style = re.search(r'href="/(static/[^"]+\.[0-9a-f]{12}\.css)"', page.text)
        assert style
        answer = httpx.get(f"{server.url}{style.group(1)}")
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
