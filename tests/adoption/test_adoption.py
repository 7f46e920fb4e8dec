"""Opening a store that another program made and goes on using."""

import shutil
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest
from django.utils import timezone

from knowledge import adoption, catch_up, markers, queries, schema, services
from knowledge.adoption import Opening, is_shared_with_older_program, open_store
from knowledge.facets import facets
from knowledge.types import ChunkQuery, Count, State
from protoconsole.databases import KNOWLEDGE, fetch
from protoconsole.errors import StoreUnusable
from protoconsole.instance import Instance
from tests.actors import OPERATOR


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def old_columns(path: Path) -> list[tuple[object, ...]]:
    return rows(
        path,
        "SELECT id, content, domain, heading, source, source_type, finding_type, namespace, epoch,"
        " created_at, updated_at, invalidated_at, invalidation_reason FROM chunks ORDER BY id",
    )


class TestLegacy:
    def test_it_holds_what_the_other_program_left(self, legacy: Opening) -> None:
        counted = facets(ChunkQuery())

        assert counted.total == 138
        assert facets(ChunkQuery(include_superseded=True)).total == 157
        assert {count.value: count.n for count in counted.state} | {"superseded": 1, "deleted": 18} == {
            count.value: count.n for count in counted.state
        }
        hot = queries.browse(ChunkQuery(policies=("always",)), OPERATOR).items
        assert len(hot) == 4
        assert {chunk.memory_kind for chunk in hot} == {"standing"}

    def test_nothing_that_was_there_is_changed(self, legacy_files: Path) -> None:
        before = old_columns(legacy_files)
        vectors = rows(legacy_files, "SELECT * FROM chunk_vectors ORDER BY 1")

        open_store(timezone.now())

        assert old_columns(legacy_files) == before
        assert rows(legacy_files, "SELECT * FROM chunk_vectors ORDER BY 1") == vectors
        assert rows(legacy_files, "SELECT COUNT(*) FROM chunks_fts WHERE chunks_fts MATCH 'staging'") == [
            (1,)
        ]

    def test_a_copy_is_made_before_the_first_change(self, legacy_files: Path) -> None:
        before = old_columns(legacy_files)

        opening = open_store(timezone.now())

        assert opening.copy is not None
        assert opening.copy.parent == legacy_files.parent
        assert opening.copy.stat().st_mode & 0o777 == 0o600
        assert old_columns(opening.copy) == before
        assert "review_state" not in {row[1] for row in rows(opening.copy, "PRAGMA table_info(chunks)")}

    def test_a_second_opening_copies_and_writes_nothing(self, legacy: Opening, legacy_files: Path) -> None:
        assert legacy.copy is not None
        made = legacy.copy.stat().st_mtime_ns
        version = fetch(KNOWLEDGE, "PRAGMA data_version")
        [(changes,)] = fetch(KNOWLEDGE, "SELECT total_changes()")

        again = open_store(timezone.now())

        assert (again.copy, again.created) == (None, False)
        assert legacy.copy.stat().st_mtime_ns == made
        assert fetch(KNOWLEDGE, "SELECT total_changes()") == [(changes,)]
        assert fetch(KNOWLEDGE, "PRAGMA data_version") == version

    def test_it_warns_of_a_program_older_than_verdicts(self, legacy: Opening) -> None:
        assert legacy.older_program
        assert open_store(timezone.now()).older_program

    def test_the_grace_of_its_deletions_counts_from_our_first_opening(self, legacy: Opening) -> None:
        assert services.sweep() == 0
        assert facets(ChunkQuery(states=(State.DELETED,))).total == 18

        assert services.restore_by_source("notes/old-project.md", OPERATOR).count == 18
        assert facets(ChunkQuery(sources=("notes/old-project.md",))).total == 18

    def test_every_exact_heading_is_among_the_first_three(self, legacy: Opening) -> None:
        everything = ChunkQuery(include_superseded=True)
        page = queries.browse(everything, OPERATOR, limit=200)
        for chunk in page.items:
            if chunk.heading:
                query = ChunkQuery(text=chunk.heading, include_superseded=True)
                first = queries.search(query, OPERATOR, k=3).hits
                assert chunk.heading in [hit.chunk.heading for hit in first]


class TestInterruptedStart:
    def test_a_failed_start_is_finished_by_the_next(
        self, legacy_files: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail() -> None:
            raise RuntimeError("killed")

        before = old_columns(legacy_files)
        with monkeypatch.context() as patch:
            patch.setattr(adoption, "rebuild_derived", fail)
            with pytest.raises(RuntimeError):
                open_store(timezone.now())
        [copy] = legacy_files.parent.glob("*.before-*")

        opening = open_store(timezone.now())

        assert opening.copy == copy  # the older truth stays
        assert old_columns(copy) == before
        assert facets(ChunkQuery()).total == 138

    def test_a_half_made_copy_is_made_anew(self, legacy_files: Path) -> None:
        half = legacy_files.with_name(f"{legacy_files.name}.before-schema-{schema.SCHEMA_VERSION}.part")
        half.write_bytes(b"half")

        opening = open_store(timezone.now())

        assert opening.copy is not None
        assert rows(opening.copy, "SELECT COUNT(*) FROM chunks") == [(157,)]
        assert not half.exists()

    def test_a_pass_fills_null_cells_only_and_once(self, legacy_files: Path) -> None:
        with closing(sqlite3.connect(legacy_files)) as connection:
            connection.execute("ALTER TABLE chunks ADD COLUMN memory_kind TEXT")
            connection.execute("UPDATE chunks SET memory_kind = 'decision' WHERE id = 5")
            connection.commit()

        open_store(timezone.now())

        assert queries.get(5, OPERATOR).memory_kind == "decision"
        assert queries.get(6, OPERATOR).memory_kind == "fact"
        markers = dict(fetch(KNOWLEDGE, "SELECT key, value FROM _kb_meta"))
        assert {"typed_memory_backfill", "review_state_backfill"} <= markers.keys()

    def test_a_pass_that_another_program_marked_is_not_repeated(
        self, legacy_files: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # What is NULL after a pass was written since, and is stamped row by row.
        monkeypatch.setattr(adoption, "_index_at_once", lambda: None)
        with closing(sqlite3.connect(legacy_files)) as connection:
            for name in schema.TYPED_COLUMNS:
                connection.execute(f"ALTER TABLE chunks ADD COLUMN {name} TEXT")
            connection.execute("INSERT INTO _kb_meta VALUES ('review_state_backfill', '1')")
            connection.execute("UPDATE chunks SET review_state = 'confirmed' WHERE id = 100")
            connection.commit()

        opening = open_store(timezone.now())

        assert not opening.older_program
        assert dict(fetch(KNOWLEDGE, "SELECT key, value FROM _kb_meta"))["review_state_backfill"] == "1"
        without = "SELECT COUNT(*) FROM chunks WHERE {} IS NULL"
        assert rows(legacy_files, without.format("review_state")) == [(156,)]
        assert rows(legacy_files, without.format("memory_kind")) == [(0,)]
        while catch_up.catch_up():
            pass
        assert rows(legacy_files, without.format("review_state")) == [(0,)]


class TestOtherLayouts:
    def test_missing_and_unknown_columns(self, instance: Instance) -> None:
        path = instance.paths.knowledge_db
        path.parent.mkdir()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(
                "CREATE TABLE chunks (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL,"
                " domain TEXT NOT NULL DEFAULT 'general', created_at TEXT NOT NULL, mood TEXT)"
            )
            connection.execute(
                "INSERT INTO chunks (content, domain, created_at, mood)"
                " VALUES ('tea', 'fact', '2026-01-01T00:00:00+00:00', 'calm')"
            )
            connection.commit()

        open_store(timezone.now())

        [chunk] = queries.browse(ChunkQuery(), OPERATOR).items
        assert (chunk.content, chunk.memory_kind, chunk.updated_at) == (
            "tea",
            "fact",
            "2026-01-01T00:00:00+00:00",
        )
        assert fetch(KNOWLEDGE, "SELECT mood FROM chunks") == [("calm",)]

    def test_a_new_store_and_its_modes(self, store: Opening) -> None:
        assert store.created
        assert store.wal
        assert store.copy is None
        assert store.path.stat().st_mode & 0o777 == 0o600
        assert store.path.parent.stat().st_mode & 0o777 == 0o700


class TestRefusals:
    """One clear line, and nothing touched."""

    @pytest.fixture
    def path(self, instance: Instance) -> Path:
        path = instance.paths.knowledge_db
        path.parent.mkdir()
        return path

    def refused(self, path: Path, match: str) -> None:
        content = path.read_bytes()
        listing = sorted(path.parent.iterdir())
        with pytest.raises(StoreUnusable, match=match) as refusal:
            open_store(timezone.now())
        assert "\n" not in str(refusal.value)
        assert path.read_bytes() == content
        assert sorted(path.parent.iterdir()) == listing

    def test_no_sqlite_file(self, path: Path) -> None:
        path.write_text("# my notes\n" * 1000)
        self.refused(path, "not a SQLite database")

    def test_a_damaged_file(self, path: Path) -> None:
        path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 8000)
        self.refused(path, "cannot be opened")

    def test_a_table_that_is_something_else(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE chunks (name TEXT)")
        self.refused(path, "no knowledge store")

    def test_a_newer_marker(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE _kb_meta (key TEXT PRIMARY KEY, value TEXT)")
            connection.execute("INSERT INTO _kb_meta VALUES ('pc_schema', '99')")
            connection.commit()
        self.refused(path, "newer protoconsole")


FOREIGN_WRITER = textwrap.dedent(
    """
    import sqlite3, sys
    path, n = sys.argv[1], int(sys.argv[2])
    for i in range(n):
        connection = sqlite3.connect(path, timeout=5.0)
        now = "2026-05-01T10:00:00+00:00"
        connection.execute(
            "INSERT INTO chunks (content, domain, heading, source, source_type, created_at, updated_at)"
            " VALUES (?, 'fact', NULL, 'chat-x', 'extracted', ?, ?)", (f"foreign quokka number {i}", now, now))
        connection.commit()
        connection.close()
        print(i, flush=True)
    """
)


class TestTheOtherProgramGoesOn:
    def test_it_writes_while_we_adopt(self, legacy_files: Path) -> None:
        command = [sys.executable, "-c", FOREIGN_WRITER, str(legacy_files), "150"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "0\n"  # it has the store open and is writing
            open_store(timezone.now())
            acknowledged = 1 + len(writer.stdout.readlines())
        assert (writer.returncode, acknowledged) == (0, 150)

        assert facets(ChunkQuery()).total == 138 + 150
        found = queries.search(ChunkQuery(text="quokka"), OPERATOR, k=200)
        assert len(found.hits) == 150
        assert {hit.chunk.review_state for hit in found.hits} == {"pending"}

    def test_its_rows_are_found_and_counted_without_a_restart(
        self, legacy: Opening, legacy_files: Path
    ) -> None:
        with closing(sqlite3.connect(legacy_files)) as other:
            other.execute(
                "INSERT INTO chunks (content, domain, created_at, updated_at)"
                " VALUES ('the wombat sleeps', 'hot', '2026-05-01T10:00:00+00:00', '2026-05-01T10:00:00+00:00')"
            )
            other.commit()
        [hit] = queries.search(ChunkQuery(text="wombats sleeping"), OPERATOR).hits
        assert (hit.chunk.memory_kind, hit.chunk.delivery_policy) == ("standing", "always")
        assert fetch(
            KNOWLEDGE, "SELECT memory_kind, review_state FROM chunks WHERE id = ?", (hit.chunk.id,)
        ) == [("standing", "pending")]

        with closing(sqlite3.connect(legacy_files)) as other:
            other.execute("UPDATE chunks SET content = 'the numbat runs' WHERE id = ?", (hit.chunk.id,))
            other.commit()
        assert queries.search(ChunkQuery(text="wombat"), OPERATOR).hits == []
        assert [h.chunk.id for h in queries.search(ChunkQuery(text="numbat"), OPERATOR).hits] == [
            hit.chunk.id
        ]

        with closing(sqlite3.connect(legacy_files)) as other:
            other.execute("DELETE FROM chunks WHERE id = ?", (hit.chunk.id,))
            other.commit()
        assert queries.search(ChunkQuery(text="numbat"), OPERATOR).hits == []
        assert facets(ChunkQuery()).total == 138

    def test_a_replaced_row_is_indexed_once(self, store: Opening) -> None:
        with closing(sqlite3.connect(store.path)) as other:
            for text in ("first bilby", "second quoll"):
                other.execute(
                    "INSERT OR REPLACE INTO chunks (id, content, domain, created_at, updated_at)"
                    " VALUES (7, ?, 'general', '2026-05-01', '2026-05-01')",
                    (text,),
                )
                other.commit()
                queries.browse(ChunkQuery(), OPERATOR)

        assert queries.search(ChunkQuery(text="bilby"), OPERATOR).hits == []
        assert len(queries.search(ChunkQuery(text="quoll"), OPERATOR).hits) == 1

    def test_a_busy_store_is_read_all_the_same_and_says_what_is_missing(self, store: Opening) -> None:
        with closing(sqlite3.connect(store.path)) as other:
            other.execute(
                "INSERT INTO chunks (content, domain, created_at, updated_at) VALUES ('x', 'fact', '2026', '2026')"
            )
            other.commit()
            other.execute("BEGIN IMMEDIATE")
            found = queries.search(ChunkQuery(text="x"), OPERATOR)
            other.rollback()

        assert (list(found.hits), found.index_pending) == ([], 1)
        assert len(queries.search(ChunkQuery(text="x"), OPERATOR).hits) == 1


def test_a_huge_store_is_served_before_it_is_indexed(
    legacy_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adoption, "INDEX_AT_ONCE", 0)
    assert open_store(timezone.now()).index_pending == 157

    monkeypatch.setattr(catch_up, "BATCH", 100)
    assert catch_up.catch_up(100) == 100
    assert catch_up.pending() == 57


def test_without_fts5_the_index_is_built_by_the_next_program_that_has_it(
    legacy_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from knowledge.search import fts5

    shutil.copy(legacy_files, legacy_files.with_suffix(".spare"))
    with monkeypatch.context() as patch:
        patch.setattr(fts5, "available", lambda: False)
        open_store(timezone.now())
        assert queries.search(ChunkQuery(text="staging cluster"), OPERATOR).ranking == "like"

    open_store(timezone.now())

    assert queries.search(ChunkQuery(text="staging cluster"), OPERATOR).hits


def test_counts_of_an_unknown_combination_are_exact(legacy: Opening) -> None:
    assert facets(ChunkQuery(domains=("no such",))).total == 0
    assert Count("hot", 4) in facets(ChunkQuery()).domain


class TestTheOtherProgramIsUpgraded:
    def test_a_row_with_a_verdict_of_its_own_tells(self, legacy: Opening) -> None:
        assert is_shared_with_older_program()
        with closing(sqlite3.connect(legacy.path)) as other:
            for verdict in (None, "pending"):
                other.execute(
                    "INSERT INTO chunks (content, domain, review_state, created_at, updated_at)"
                    " VALUES ('x', 'fact', ?, '2026', '2026')",
                    (verdict,),
                )
                other.commit()
                queries.browse(ChunkQuery(), OPERATOR)
                assert is_shared_with_older_program() is (verdict is None)

    def test_a_new_schema_version_is_marked(self, legacy: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(schema, "SCHEMA_VERSION", 2)
        opening = open_store(timezone.now())

        assert opening.copy is not None
        assert markers.get(markers.SCHEMA) == "2"
        assert open_store(timezone.now()).copy is None
