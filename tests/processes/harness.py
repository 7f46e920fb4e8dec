"""A real server in a process of its own, over an instance in a folder of its own."""

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

CHECKOUT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, str(CHECKOUT / "manage.py")]
STARTS_WITHIN_S = 60.0
STOPS_WITHIN_S = 40.0
_OURS = ("PROTOCONSOLE_", "PROTOAGENT_", "KNOWLEDGE_", "MEMORY_", "OPENAI_", "DJANGO_")


def environment(root: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give the environment of a process that serves `root` and knows nothing of the tests' own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    ours = {"PROTOAGENT_HOME": str(root), "PROTOCONSOLE_PLAIN_STATIC": "1", "PYTHONWARNINGS": "default"}
    return {**kept, **ours, **(more or {})}


def manage(
    root: Path, *args: str, env: Mapping[str, str] | None = None, through: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, whatever that is; `through` is a command that runs commands."""
    return subprocess.run(
        [*through, *COMMAND, *args],
        env=environment(root, env),
        capture_output=True,
        text=True,
        timeout=STARTS_WITHIN_S,
        check=False,
    )


def make_key(root: Path, name: str, role: str) -> str:
    """Make a key by the command that people use, and return it."""
    made = manage(root, "apikey", "create", name, "--role", role)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def wait_until(condition: Callable[[], bool], what: str, within: float = STARTS_WITHIN_S) -> None:
    """Look again and again until something is so; fail when it takes too long."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.05)


@dataclass
class RunningServer:
    """A server that has told its address. `message` is all that it has said on stdout."""

    process: subprocess.Popen[str]
    errors: IO[str]
    lines: list[str] = field(default_factory=list)

    @property
    def message(self) -> str:
        return "".join(self.lines)

    @property
    def url(self) -> str:
        """The address of the site, with a slash at its end."""
        return self._said(r"is at (http://\S+)") or ""

    @property
    def signin_link(self) -> str | None:
        return self._said(r"(http://\S+/welcome/\S+)")

    @property
    def agent_key(self) -> str | None:
        return self._said(r"\b(pc_a\S+)")

    def stderr_text(self) -> str:
        """Give the log so far."""
        return Path(self.errors.name).read_text("utf-8")

    def stop(self) -> int:
        """Ask it to stop and return its exit code."""
        self.process.terminate()
        return self.process.wait(STOPS_WITHIN_S)

    def kill(self) -> None:
        """End it without giving it a chance to finish anything."""
        self.process.kill()
        self.process.wait(STOPS_WITHIN_S)

    def _said(self, pattern: str) -> str | None:
        found = re.search(pattern, self.message)
        return found.group(1) if found else None


@contextmanager
def running_server(root: Path, *args: str, env: Mapping[str, str] | None = None) -> Iterator[RunningServer]:
    """Start `manage.py serve` on a free port, give it once its start message is complete, stop it at the end.

    `args` go to the command and may name another port.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".log") as errors:
        process = subprocess.Popen(
            [*COMMAND, "serve", "--port", "0", *args],
            env=environment(root, env),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        server = RunningServer(process, errors)  # type: ignore[arg-type]
        reader = threading.Thread(target=_follow, args=(server, ready := threading.Event()), daemon=True)
        reader.start()
        try:
            ready.wait(STARTS_WITHIN_S)
            assert server.url and process.poll() is None, f"no start: {server.message}{server.stderr_text()}"
            yield server
        finally:
            _end(process)
            reader.join(STOPS_WITHIN_S)


def _follow(server: RunningServer, ready: threading.Event) -> None:
    """Collect what the process says; the empty line after the start message, or the end, makes it ready."""
    assert server.process.stdout is not None
    with server.process.stdout as said:
        for line in said:
            server.lines.append(line)
            if not line.strip():
                ready.set()
    ready.set()


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOPS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
