"""A start that cannot be: one line, exit 1, nothing touched."""

import os
import shutil
import socket
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.processes.harness import manage, running_server

NOBODY = 65_534


@pytest.fixture
def stored(root: Path) -> Path:
    """The knowledge store of an instance whose folders stand and which nothing has opened yet."""
    path = root / "knowledge" / "agent.db"
    path.parent.mkdir(mode=0o700, parents=True)
    return path


def contents(root: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in root.rglob("*")}


def refusal(root: Path, *args: str, env: Mapping[str, str] | None = None, through: Sequence[str] = ()) -> str:
    """Start, expect to be refused without any change, and return the one line."""
    before = contents(root)
    ended = manage(root, "serve", *(args or ("--port", "0")), env=env, through=through)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert contents(root) == before
    return ended.stderr


def test_a_port_in_use(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert port in refusal(root, "--port", port)
    assert not root.exists()


def test_an_address_of_another_machine(root: Path) -> None:
    assert "192.0.2.1" in refusal(root, "--host", "192.0.2.1", "--port", "0")
    assert not root.exists()


@pytest.mark.parametrize("wrong", ["65536", "-1", "http"])
def test_a_port_that_is_none(root: Path, wrong: str) -> None:
    assert manage(root, "serve", f"--port={wrong}").returncode != 0
    assert not root.exists()


def test_a_store_that_is_not_sqlite(root: Path, stored: Path) -> None:
    stored.write_text("a diary, by the look of it\n" * 100)
    assert str(stored) in refusal(root)


def test_a_store_that_is_damaged(root: Path, stored: Path) -> None:
    with closing(sqlite3.connect(stored)) as connection:
        connection.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY)")
    stored.write_bytes(stored.read_bytes()[:100] + b"\xff" * 4_000)
    assert str(stored) in refusal(root)


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_a_store_of_a_newer_program(root: Path, stored: Path, journal: str) -> None:
    with closing(sqlite3.connect(stored)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE _kb_meta (key TEXT PRIMARY KEY, value TEXT)")
        connection.execute("INSERT INTO _kb_meta VALUES ('pc_schema', '99')")
        connection.commit()
    assert "99" in refusal(root)


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_an_index_of_playbooks_of_a_newer_program(root: Path, journal: str) -> None:
    root.mkdir(mode=0o700)
    with closing(sqlite3.connect(root / "skills.db")) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("CREATE TABLE _skills_meta (key TEXT PRIMARY KEY, version INTEGER NOT NULL)")
        connection.execute("INSERT INTO _skills_meta VALUES ('schema', 6)")
        connection.commit()
    line = refusal(root)
    assert str(root / "skills.db") in line
    assert "6" in line


def test_a_console_store_that_is_not_sqlite(root: Path) -> None:
    root.mkdir(mode=0o700)
    console = root / "console.db"
    console.write_text("not a database\n" * 100)
    ended = manage(root, "serve", "--port", "0")
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert str(console) in ended.stderr
    assert console.read_text() == "not a database\n" * 100
    assert not (root / "knowledge").exists()


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("knowledge: {top_k: many}", "knowledge.top_k"),
        ("memory: {max_sessions: -1}", "memory.max_sessions"),
        ("knowledge: [", "config.yaml"),
    ],
)
def test_a_setting_that_cannot_be_obeyed(root: Path, config: str, named: str) -> None:
    root.mkdir(mode=0o700)
    (root / "config.yaml").write_text(config)
    assert named in refusal(root)


class TestOfAnotherUser:
    """Files that this user may read and not write."""

    @pytest.fixture
    def through(self) -> Sequence[str]:
        """For root: give up the right to write to what belongs to others."""
        if os.geteuid() != 0:
            return ()
        without = "-dac_override,-dac_read_search,-fowner"
        return (str(shutil.which("setpriv")), f"--bounding-set={without}", f"--inh-caps={without}")

    def test_a_store_that_can_only_be_read(self, root: Path, stored: Path, through: Sequence[str]) -> None:
        with closing(sqlite3.connect(stored)) as connection:
            connection.execute("CREATE TABLE other (id INTEGER)")
        give_away(stored, 0o444)
        assert str(stored) in refusal(root, through=through)

    def test_a_folder_of_the_store_that_can_only_be_read(
        self, root: Path, stored: Path, through: Sequence[str]
    ) -> None:
        with closing(sqlite3.connect(stored)) as connection:
            connection.execute("CREATE TABLE other (id INTEGER)")
        give_away(stored.parent, 0o555)
        assert str(stored.parent) in refusal(root, through=through)
        stored.parent.chmod(0o755)

    def test_an_instance_that_can_only_be_read(self, root: Path, through: Sequence[str]) -> None:
        root.mkdir()
        give_away(root, 0o555)
        assert str(root) in refusal(root, through=through)

    def test_an_instance_where_none_can_be_made(self, tmp_path: Path, through: Sequence[str]) -> None:
        shut = tmp_path / "shut"
        shut.mkdir()
        give_away(shut, 0o555)
        assert str(shut / "instance") in refusal(shut / "instance", through=through)
        assert list(shut.iterdir()) == []


def give_away(path: Path, mode: int) -> None:
    path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)


def test_a_store_that_another_program_does_not_let_go_of(root: Path, stored: Path) -> None:
    with closing(sqlite3.connect(stored, isolation_level=None)) as other:
        other.execute("CREATE TABLE other (id INTEGER)")
        other.execute("BEGIN EXCLUSIVE")
        ended = manage(root, "serve", "--port", "0")
        assert ended.returncode == 1
        assert ended.stderr.count("\n") == 1, ended.stderr
    with running_server(root) as server:
        assert "is at" in server.message
