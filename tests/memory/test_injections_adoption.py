"""Opening a log that another program made and goes on appending to."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connections

from memory.injections import adoption, checkup, queries
from memory.injections.adoption import LogOpening, open_log
from memory.injections.errors import TextNotKept
from memory.injections.types import TurnQuery
from protoconsole.databases import INJECTIONS, fetch
from protoconsole.errors import StoreUnusable
from protoconsole.instance import Instance
from tests.memory.turns import hit, projected, recorded

OLD_COLUMNS = (
    "id, ts, session_id, digest_session_ids, hot_chunk_ids, rag_chunk_ids, approx_tokens FROM injections"
)


def plain_rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


@pytest.fixture
def log(legacy_files: Path, instance: Instance) -> Path:
    """A log that the agent's own program made, not yet opened."""
    return instance.paths.injection_log


@pytest.fixture
def opening(log: Path) -> LogOpening:
    return open_log()


class TestLegacy:
    def test_all_turns_are_there_and_are_called_legacy(self, opening: LogOpening) -> None:
        first = queries.turns(TurnQuery(), limit=200)

        assert len(first.items) == 141
        assert all(turn.legacy for turn in first.items)
        newest = first.items[0]
        assert (newest.id, newest.ts, newest.session_id) == (141, "2026-04-05T18:45:00+00:00", "")
        assert (newest.digest_ids, newest.hot_ids, newest.rag_ids) == (["chat-deleted"], [999999], [888888])
        assert newest.approx_tokens == 10

    def test_its_ids_are_found(self, opening: LogOpening, log: Path) -> None:
        everything = plain_rows(log, "SELECT id, rag_chunk_ids, hot_chunk_ids FROM injections")
        with_133 = sum(133 in [*json.loads(str(rag)), *json.loads(str(hot))] for _, rag, hot in everything)

        assert queries.count_of(133).count == with_133 > 0
        assert [turn.id for turn in queries.turns(TurnQuery(ref=888888)).items] == [141]
        assert [turn.id for turn in queries.turns(TurnQuery(told_of="chat-deleted")).items] == [141]
        assert queries.count_of(1).count == sum("[1" in str(hot) for _, _, hot in everything)

    def test_its_text_was_not_kept(self, opening: LogOpening) -> None:
        with pytest.raises(TextNotKept, match="text not kept"):
            queries.text_of(141)

    def test_nothing_that_was_there_is_changed(self, log: Path) -> None:
        before = plain_rows(log, f"SELECT {OLD_COLUMNS} ORDER BY id")

        open_log()
        recorded(projected(hit(1, "- one")))

        assert plain_rows(log, f"SELECT {OLD_COLUMNS} WHERE id <= 141 ORDER BY id") == before

    def test_a_copy_is_made_before_the_first_change(self, log: Path) -> None:
        before = plain_rows(log, f"SELECT {OLD_COLUMNS} ORDER BY id")

        opening = open_log()

        assert opening.copy is not None and opening.copy.parent == log.parent
        assert opening.copy.stat().st_mode & 0o777 == 0o600
        assert plain_rows(opening.copy, f"SELECT {OLD_COLUMNS} ORDER BY id") == before
        assert "pc_mac" not in {row[1] for row in plain_rows(opening.copy, "PRAGMA table_info(injections)")}

    def test_a_second_opening_copies_and_writes_nothing(self, opening: LogOpening) -> None:
        [(changes,)] = fetch(INJECTIONS, "SELECT total_changes()")

        again = open_log()

        assert (again.copy, again.created, again.index_pending) == (None, False, 0)
        assert fetch(INJECTIONS, "SELECT total_changes()") == [(changes,)]

    def test_a_failed_start_is_finished_by_the_next(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise RuntimeError("killed")

        with monkeypatch.context() as patch:
            patch.setattr(adoption.meta, "put", fail)
            with pytest.raises(RuntimeError):
                open_log()
        before = plain_rows(log, f"SELECT {OLD_COLUMNS} ORDER BY id")

        opening = open_log()

        [copy] = log.parent.glob("memory-injections.db.before-*")
        assert opening.copy == copy
        assert plain_rows(copy, f"SELECT {OLD_COLUMNS} ORDER BY id") == before
        assert "pc_mac" not in {row[1] for row in plain_rows(copy, "PRAGMA table_info(injections)")}
        assert len(queries.turns(TurnQuery(), limit=200).items) == 141

    def test_it_is_sound(self, opening: LogOpening) -> None:
        findings = {finding.name: finding for finding in checkup.examine()}

        assert all(finding.ok for finding in findings.values())
        assert findings["injection chain"].detail == "0 rows chained, 141 of another program unchained"

    def test_ours_are_chained_after_theirs(self, opening: LogOpening) -> None:
        assert recorded(projected(hit(1, "- one"))) == 142

        assert all(finding.ok for finding in checkup.examine())
        assert not queries.turns(TurnQuery()).items[0].legacy

    def test_the_newer_layout_keeps_its_counts(self, log: Path) -> None:
        with closing(sqlite3.connect(log)) as other, other:
            other.execute("ALTER TABLE injections ADD COLUMN rag_stage_counts TEXT")
            other.execute("ALTER TABLE injections ADD COLUMN theirs TEXT DEFAULT 'x'")
            other.execute("""UPDATE injections SET rag_stage_counts = '{"final": 4, "rag_chunk_ids": [1]}'""")

        open_log()

        assert queries.turns(TurnQuery()).items[0].stage_counts == {"final": 4}
        assert plain_rows(log, "SELECT DISTINCT theirs FROM injections") == [("x",)]


def test_a_new_log_is_private_and_empty(instance: Instance) -> None:
    opening = open_log()

    assert (opening.created, opening.copy, opening.wal) == (True, None, True)
    assert opening.path.stat().st_mode & 0o777 == 0o600
    assert queries.turns(TurnQuery()).items == []


class TestRefusals:
    def refused(self, path: Path) -> str:
        connections[INJECTIONS].close()
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(StoreUnusable) as caught:
            open_log()
        assert before is None or path.read_bytes() == before
        assert not list(path.parent.glob(f"{path.name}*.before*"))
        text = str(caught.value)
        assert "\n" not in text and str(path) in text
        return text

    def test_no_database(self, instance: Instance) -> None:
        instance.paths.injection_log.write_text("these are notes, not a database")
        assert "is not a SQLite database" in self.refused(instance.paths.injection_log)

    def test_a_folder(self, instance: Instance) -> None:
        instance.paths.injection_log.mkdir()
        assert "is not a file" in self.refused(instance.paths.injection_log)

    def test_a_torn_file(self, log: Path) -> None:
        os.truncate(log, 3_000)
        assert "cannot be opened" in self.refused(log)

    def test_a_log_of_another_kind(self, instance: Instance) -> None:
        with closing(sqlite3.connect(instance.paths.injection_log)) as other, other:
            other.execute("CREATE TABLE injections (id INTEGER PRIMARY KEY, ts TEXT)")
        assert "has no approx_tokens" in self.refused(instance.paths.injection_log)

    def test_a_newer_schema(self, instance: Instance) -> None:
        with closing(sqlite3.connect(instance.paths.injection_log)) as other, other:
            other.execute("CREATE TABLE pc_injection_meta (key TEXT PRIMARY KEY, value TEXT)")
            other.execute("INSERT INTO pc_injection_meta VALUES ('pc_schema', '2')")
        assert "newer protoconsole (schema 2" in self.refused(instance.paths.injection_log)
