"""No acknowledged write is lost: not among many writers, and not when the server is killed."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx

from tests.processes.harness import (
    CHECKOUT,
    RunningServer,
    environment,
    make_key,
    manage,
    running_server,
    wait_until,
)

SOAK_S = int(os.environ.get("SOAK", "5"))
KILLS = int(os.environ.get("KILLS", "2"))
WRITES_BEFORE_A_KILL = 40

Acknowledged = list[tuple[int, str]]


def crowd(root: Path, name: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.processes.crowd", name, str(SOAK_S), *args],
        cwd=CHECKOUT,
        env=environment(root, {"DJANGO_SETTINGS_MODULE": "protoconsole.settings"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def acknowledged_by(process: subprocess.Popen[str]) -> Acknowledged:
    """Wait for one of the crowd, hold it to have met only successes, and return what it was promised."""
    said, complaints = process.communicate(timeout=SOAK_S + 90)
    assert process.returncode == 0, complaints
    return [tuple(json.loads(line)) for line in said.splitlines()]


def test_a_crowd_of_writers_loses_nothing(root: Path) -> None:
    with running_server(root) as server:
        store = root / "knowledge" / "agent.db"
        assert server.agent_key
        members = [
            crowd(root, "operators_script", server.url, make_key(root, "script", "operator")),
            crowd(root, "agent", server.url, server.agent_key),
            crowd(root, "other_program", str(store)),
            crowd(root, "judge"),
        ]
        noted, remembered, inserted, verdicts = [acknowledged_by(member) for member in members]
        assert server.stop() == 0
        log = server.stderr_text()
    assert min(map(len, (noted, remembered, inserted, verdicts))) > 0
    assert missing(store, noted + remembered + inserted) == []
    assert unaudited(store, noted + remembered) == []
    assert batches(store, [batch for _, batch in verdicts]) == [count for count, _ in verdicts]
    assert re.findall(r".* 5\d\d \d+ms$|.*locked.*|Traceback.*", log, re.MULTILINE) == []
    assert_sound(root)


def test_a_killed_server_has_kept_what_it_acknowledged(root: Path) -> None:
    kept: Acknowledged = []
    with running_server(root):
        key = make_key(root, "script", "operator")
    for _ in range(KILLS):
        with running_server(root) as server, writing(server, key) as acknowledged:
            wait_until(lambda: len(acknowledged) >= WRITES_BEFORE_A_KILL, "enough writes")
            server.kill()
        kept += acknowledged
        store = root / "knowledge" / "agent.db"
        assert missing(store, kept) == []
        assert unaudited(store, kept) == []
        assert_sound(root)


@contextmanager
def writing(server: RunningServer, key: str) -> Iterator[Acknowledged]:
    """Write from four threads until the server is gone; each write that it acknowledged is in the list."""
    acknowledged: Acknowledged = []
    threads = [threading.Thread(target=_write, args=(server, key, n, acknowledged)) for n in range(4)]
    for thread in threads:
        thread.start()
    try:
        yield acknowledged
    finally:
        server.kill()
        for thread in threads:
            thread.join()


def _write(server: RunningServer, key: str, writer: int, acknowledged: Acknowledged) -> None:
    with httpx.Client(base_url=server.url, headers={"X-API-Key": key}, timeout=30) as client:
        while True:
            text = f"writer {writer} wrote this as number {len(acknowledged)}"
            try:
                answer = client.post("api/knowledge/chunks", json={"content": text})
            except httpx.TransportError:
                return
            acknowledged.append((answer.raise_for_status().json()["id"], text))


def missing(store: Path, acknowledged: Acknowledged) -> Acknowledged:
    rows = set(select(store, "SELECT id, content FROM chunks"))
    return [row for row in acknowledged if row not in rows]


def unaudited(store: Path, acknowledged: Acknowledged) -> list[int]:
    audited = {row[0] for row in select(store, "SELECT chunk_id FROM pc_audit WHERE action = 'added'")}
    return [row_id for row_id, _ in acknowledged if row_id not in audited]


def batches(store: Path, ids: list[str]) -> list[int]:
    """Count the audit entries of each batch."""
    counts = dict(select(store, "SELECT batch, COUNT(*) FROM pc_audit GROUP BY batch"))
    return [counts.get(batch, 0) for batch in ids]


def assert_sound(root: Path) -> None:
    assert select(root / "knowledge" / "agent.db", "PRAGMA integrity_check") == [("ok",)]
    assert select(root / "console.db", "PRAGMA integrity_check") == [("ok",)]
    examined = manage(root, "doctor")  # proves that the index and the counts are exactly those of the rows
    assert examined.returncode == 0, examined.stdout


def select(store: Path, sql: str) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(sql).fetchall()
