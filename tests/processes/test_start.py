"""What a start makes, says and gives away."""

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.cases import LEGACY
from tests.processes.harness import RunningServer, manage, running_server


def modes(root: Path) -> dict[str, str]:
    everything = [root, *root.rglob("*")]
    return {str(path): oct(stat.S_IMODE(path.stat().st_mode)) for path in everything}


def test_a_first_start_lets_operator_and_agent_in(server: RunningServer) -> None:
    assert server.signin_link and server.signin_link.startswith(server.url)
    assert httpx.get(server.signin_link).status_code == 200
    assert server.agent_key
    assert httpx.get(f"{server.url}login/").status_code == 200


def test_a_second_start_gives_nothing_away(root: Path) -> None:
    with running_server(root) as first:
        assert first.stop() == 0
    with running_server(root) as second:
        assert second.signin_link is None
        assert "pc_" not in second.message


def test_an_instance_that_has_an_operator_gives_nothing_away(root: Path) -> None:
    assert manage(root, "operator", "create", "olive").returncode == 0
    with running_server(root) as server:
        assert server.signin_link is None
        assert server.agent_key is None


def test_secrets_stay_out_of_the_log(server: RunningServer) -> None:
    assert server.signin_link and server.agent_key
    httpx.get(server.signin_link)
    httpx.get(f"{server.url}{server.agent_key}?q=what+was+asked")
    token = server.signin_link.rstrip("/").rpartition("/")[2]
    assert server.stop() == 0
    log = server.stderr_text()
    assert log.count(" GET ") == 2
    assert token not in log
    assert server.agent_key not in log
    assert "asked" not in log


def test_everything_is_for_this_user_alone(root: Path, server: RunningServer) -> None:
    httpx.get(f"{server.url}login/")
    found = modes(root)
    assert str(root / "console.db") in found
    assert str(root / "knowledge" / "agent.db") in found
    assert {
        path: mode for path, mode in found.items() if mode != ("0o700" if Path(path).is_dir() else "0o600")
    } == {}


def test_a_wide_umask_changes_nothing_of_that(root: Path) -> None:
    before = os.umask(0)
    try:
        with running_server(root) as server:
            httpx.get(f"{server.url}login/")
            assert set(modes(root).values()) == {"0o700", "0o600"}
    finally:
        os.umask(before)


class TestAnInstanceOfTheAgentsOwnProgram:
    @pytest.fixture
    def legacy(self, root: Path) -> Path:
        shutil.copytree(LEGACY, root)
        return root

    def test_is_served_from_its_own_files_after_a_copy(self, legacy: Path) -> None:
        before = rows(legacy / "knowledge" / "agent.db")
        with running_server(legacy) as server:
            copies = list((legacy / "knowledge").glob("agent.db.before-*"))
            assert len(copies) == 1
            assert str(copies[0]) in server.message
            assert rows(copies[0]) == before
            assert rows(legacy / "knowledge" / "agent.db") == before

    def test_a_second_start_copies_nothing(self, legacy: Path) -> None:
        with running_server(legacy):
            pass
        with running_server(legacy) as second:
            assert "copy made" not in second.message

    def test_warns_that_rejected_rows_go_on_being_delivered(self, legacy: Path) -> None:
        with running_server(legacy) as server:
            assert "reject_invalidates" in server.message

    def test_does_not_warn_where_that_is_mended(self, legacy: Path) -> None:
        (legacy / "config.yaml").write_text("knowledge: {reject_invalidates: true}\n")
        with running_server(legacy) as server:
            assert "reject_invalidates" not in server.message


def test_oddities_of_the_configuration_are_said(root: Path) -> None:
    root.mkdir(mode=0o700)
    (root / "config.yaml").write_text("knowledge: {topk: 3}\n")
    with running_server(root) as server:
        assert "knowledge.top_k" in server.message


def rows(path: Path) -> list[tuple[int, str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT id, content, created_at FROM chunks ORDER BY id").fetchall()
