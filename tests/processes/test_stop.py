"""How a server ends, and what outlives one that was killed."""

import os
import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.processes.harness import STOPS_WITHIN_S, RunningServer, running_server, wait_until


def children(server: RunningServer) -> set[int]:
    pid = server.process.pid
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}login/", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ends_well_when_asked_to(root: Path, number: signal.Signals) -> None:
    with running_server(root) as server:
        assert answers(server.url)
        server.process.send_signal(number)
        assert server.process.wait(STOPS_WITHIN_S) == 0
        assert "Traceback" not in server.stderr_text()
    assert wal_bytes(root) == 0


def wal_bytes(root: Path) -> int:
    """Count what is not yet in the stores themselves."""
    return sum(path.stat().st_size for path in root.rglob("*-wal"))


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_running_request_is_answered_first(root: Path, workers: str) -> None:
    with running_server(root, "--workers", workers) as server:
        address = urlsplit(server.url)
        with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=20) as client:
            head = f"POST /login/ HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 6\r\n"
            client.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
            assert client.recv(1_000).startswith(b"HTTP/1.1 100 ")  # the request is running from here on
            server.process.terminate()
            client.sendall(b"a=1&b=")
            assert client.recv(1_000).startswith(b"HTTP/1.1 403 ")  # a form without its token
        assert server.process.wait(STOPS_WITHIN_S) == 0


class TestSeveralProcesses:
    def test_serve_and_replace_one_that_is_killed(self, root: Path) -> None:
        with running_server(root, "--workers", "2") as server:
            wait_until(lambda: answers(server.url), "a first answer")
            before = children(server)
            assert len(before) == 2
            victim = min(before)
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda: len(children(server) - {victim}) == 2, "a replacement")
            wait_until(lambda: answers(server.url), "an answer after that")
            assert server.stop() == 0
            assert "Traceback" not in server.stderr_text()

    def test_none_outlives_the_first(self, root: Path) -> None:
        with running_server(root, "--workers", "2") as server:
            wait_until(lambda: answers(server.url), "a first answer")
            workers = children(server)
            server.kill()
            wait_until(lambda: not any(alive(pid) for pid in workers), "the end of its workers")

    def test_give_the_way_in_once(self, root: Path) -> None:
        with running_server(root, "--workers", "2") as server:
            assert server.message.count("/welcome/") == 1


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
