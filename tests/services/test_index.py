"""The index holds exactly the rows, whatever happened to them and whoever did it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from knowledge import checkup, queries, services
from knowledge.adoption import Opening
from knowledge.errors import KnowledgeError
from knowledge.types import ChunkQuery, Edit, NewChunk, Policy, Verdict
from protoconsole.databases import KNOWLEDGE, fetch
from tests.actors import AGENT, OPERATOR, PLUGIN

WORDS = [
    "red",
    "green",
    "blue",
    "port",
    "router",
    "seven",
    "eight",
    "never",
    "設備",
    "清單",
    "ฐานข้อมูล",
    "naïve",
    "ports",
    "running",
]


def faults() -> list[str]:
    return [f"{finding.name}: {finding.detail}" for finding in checkup.examine() if not finding.ok]


def text(random: Random) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(1, 12)))


def change_something(random: Random, path: Path) -> None:
    ids = [row[0] for row in fetch(KNOWLEDGE, "SELECT id FROM chunks")] or [0]
    row_id = random.choice(ids)
    domain = random.choice(["fact", "general", "hot"])
    source = random.choice(["a", "b"])
    match random.randint(0, 9):
        case 0 | 1:
            services.add(NewChunk(text(random), domain=domain, source=source, heading=text(random)), PLUGIN)
        case 2:
            services.remember(NewChunk(text(random), domain="fact"), AGENT)
        case 3:
            services.review(row_id, random.choice(list(Verdict)), OPERATOR)
        case 4:
            change = Edit(content=text(random), delivery_policy=random.choice(list(Policy)))
            services.edit(row_id, change, OPERATOR)
        case 5:
            services.delete(row_id, OPERATOR)
        case 6:
            random.choice([services.delete_by_source, services.restore_by_source])(source, OPERATOR)
        case 7:
            batches = fetch(KNOWLEDGE, "SELECT batch FROM pc_audit ORDER BY id DESC LIMIT 20")
            services.undo(random.choice(batches or [("none",)])[0], OPERATOR)
        case 8:
            write_as_another_program(random, path, row_id)
        case 9:
            queries.search(ChunkQuery(text=text(random)), OPERATOR)


def write_as_another_program(random: Random, path: Path, row_id: int) -> None:
    statement, params = random.choice(
        [
            (
                "INSERT INTO chunks (content, domain, created_at, updated_at) VALUES (?, 'fact', '2026', '2026')",
                1,
            ),
            ("UPDATE chunks SET content = ? WHERE id = ?", 2),
            ("UPDATE chunks SET namespace = ?, domain = 'fact' WHERE id = ?", 2),
            ("UPDATE chunks SET invalidated_at = ? WHERE id = ?", 2),
            ("DELETE FROM chunks WHERE heading = ? OR id = ?", 2),
        ]
    )
    with closing(sqlite3.connect(path)) as other:
        other.execute(statement, (text(random), row_id)[:params])
        other.commit()


@pytest.mark.parametrize("seed", range(4))
def test_after_many_random_changes_it_is_exact(store: Opening, seed: int) -> None:
    random = Random(seed)
    for _ in range(250):
        try:
            change_something(random, store.path)
        except KnowledgeError:  # a row that is gone, an undo that came too late: answers, not faults
            continue

    assert faults() == []


@pytest.mark.parametrize(
    ("damage", "noticed"),
    [
        ("DROP TRIGGER pc_chunks_insert", "triggers"),
        ("UPDATE pc_counts SET n = n + 1", "counts"),
        ("UPDATE pc_sources SET deleted = 99", "counts"),
        ("DELETE FROM pc_fact_tokens", "index of facts"),
        ("INSERT INTO pc_search (pc_search) VALUES ('delete-all')", "search index"),
        ("INSERT INTO pc_search (rowid, heading, content) VALUES (4711, '', 'ghost')", "search index"),
    ],
)
def test_damage_is_named_and_mended(store: Opening, damage: str, noticed: str) -> None:
    services.add(NewChunk("The port is 8443", domain="fact"), PLUGIN)
    assert faults() == []

    fetch(KNOWLEDGE, damage)

    assert [fault.partition(":")[0] for fault in faults()] == [noticed]
    checkup.repair()
    assert faults() == []
    assert queries.search(ChunkQuery(text="port"), OPERATOR).hits


def test_a_missing_trigger_is_put_back_on_opening_and_what_it_missed_is_found(store: Opening) -> None:
    from django.utils import timezone

    from knowledge.adoption import open_store

    fetch(KNOWLEDGE, "DROP TRIGGER pc_chunks_insert")
    with closing(sqlite3.connect(store.path)) as other:
        other.execute(
            "INSERT INTO chunks (content, domain, created_at, updated_at) VALUES ('emu', 'x', '2026', '2026')"
        )
        other.commit()

    open_store(timezone.now())

    assert queries.search(ChunkQuery(text="emu"), OPERATOR).hits
    assert faults() == []


def test_the_audit_trail_cannot_be_rewritten(store: Opening) -> None:
    from django.db import IntegrityError

    services.add(NewChunk("x"), OPERATOR)
    for statement in ("UPDATE pc_audit SET actor = 'nobody'", "DELETE FROM pc_audit"):
        with pytest.raises(IntegrityError, match="append-only"):
            fetch(KNOWLEDGE, statement)


def test_a_store_in_use_raises_no_alarm(store: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program adds, changes and deletes rows after the index was brought up to date."""
    rows = [services.add(NewChunk(f"tea {n}", domain="fact"), PLUGIN).chunk for n in range(3)]
    caught_up = checkup.catch_up.catch_up

    def then_somebody_writes(*args: object, **options: object) -> int:
        worked_off = caught_up(*args, **options)  # type: ignore[arg-type]
        with closing(sqlite3.connect(store.path)) as other:
            other.execute("UPDATE chunks SET content = 'coffee' WHERE id = ?", (rows[0] and rows[0].id,))
            other.execute("DELETE FROM chunks WHERE id = ?", (rows[1] and rows[1].id,))
            other.execute(
                "INSERT INTO chunks (content, domain, created_at, updated_at) VALUES ('emu', 'fact', '2026', '2026')"
            )
            other.commit()
        return worked_off if not worked_off else 0

    monkeypatch.setattr(checkup.catch_up, "catch_up", then_somebody_writes)

    assert faults() == []


def test_an_index_that_is_gone_is_a_fault_and_is_built_anew(store: Opening) -> None:
    services.add(NewChunk("tea"), PLUGIN)
    fetch(KNOWLEDGE, "DROP TABLE pc_search")

    assert [fault.partition(":")[0] for fault in faults()] == ["search index"]
    checkup.repair()
    assert faults() == []


@pytest.mark.parametrize(
    "table", ["pc_dirty", "pc_counts", "pc_totals", "pc_sources", "pc_fact_tokens", "pc_replaced"]
)
def test_a_derived_table_that_is_gone_is_built_anew(store: Opening, table: str) -> None:
    services.add(NewChunk("tea", source="s"), PLUGIN)
    fetch(KNOWLEDGE, f"DROP TABLE {table}")

    checkup.repair()

    assert faults() == []
    assert queries.search(ChunkQuery(text="tea"), OPERATOR).hits
