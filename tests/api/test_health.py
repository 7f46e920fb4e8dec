"""Alive, ready, well, counted."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from knowledge.adoption import Opening
from protoconsole import health, maintenance
from protoconsole.config import Config
from protoconsole.databases import KNOWLEDGE, fetch
from protoconsole.instance import Instance
from protoconsole.maintenance import StepReport
from protoconsole.version import VERSION
from tests.api.conftest import Caller
from tests.api.test_chunks import CHUNKS, added

STATUS = "/api/runtime/status"


def test_alive_means_that_the_process_answers_and_nothing_more(instance: Instance) -> None:
    for connection in connections.all():
        connection.close()
    instance.paths.knowledge_db.unlink(missing_ok=True)
    instance.paths.console_db.unlink()
    response = Client().get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert not instance.paths.console_db.exists()


def test_ready_tells_how_far_the_index_is_behind(anonymous: Caller, store: Opening) -> None:
    assert anonymous.get("/readyz").body == {"status": "ready", "index": {"pending": 0}}
    with closing(sqlite3.connect(store.path)) as foreign, foreign:
        foreign.execute(
            "INSERT INTO chunks (content, domain, created_at, updated_at) VALUES ('x', 'd', '', '')"
        )
    assert anonymous.get("/readyz").body["index"] == {"pending": 1}


def unready(caller: Caller) -> str:
    reply = caller.get("/readyz")
    assert (reply.status, reply.body["code"]) == (503, "not_ready")
    assert reply.body["detail"] == "; ".join(reply.body["reasons"])
    return str(reply.body["detail"])


def test_a_missing_store_is_unready(anonymous: Caller, store: Opening) -> None:
    connections[KNOWLEDGE].close()
    store.path.unlink()
    assert unready(anonymous) == "knowledge: its store cannot be used"
    assert not store.path.exists()


def test_a_store_that_is_no_database_is_unready(anonymous: Caller, store: Opening) -> None:
    connections[KNOWLEDGE].close()
    store.path.write_bytes(b"not a database, but long enough to look like a file of some other kind")
    assert unready(anonymous) == "knowledge: its store cannot be used"


@pytest.mark.parametrize("with_fts5", [True, False])
@pytest.mark.parametrize(
    "sql",
    [
        "DROP TRIGGER pc_chunks_insert",
        "DROP TABLE pc_search",
        "DROP TABLE pc_dirty",
        "DROP TABLE _kb_meta",
        "DROP TABLE pc_counts",
    ],
)
def test_an_index_that_does_not_stand_is_unready_and_a_reason(
    anonymous: Caller, viewer: Caller, sql: str, with_fts5: bool, request: pytest.FixtureRequest
) -> None:
    fetch(KNOWLEDGE, sql)
    if not with_fts5:
        request.getfixturevalue("without_fts5")
    if with_fts5 or "pc_search" not in sql:
        assert "doctor --repair" in unready(anonymous)
        body = viewer.get(STATUS).body
        assert body["status"] == "degraded"
        assert any("doctor --repair" in reason for reason in body["reasons"])
    assert viewer.get("/metrics").status == 200


def test_a_missing_store_is_named_to_those_who_may_know(viewer: Caller, store: Opening) -> None:
    connections[KNOWLEDGE].close()
    store.path.unlink()
    body = viewer.get(STATUS).body
    assert (body["status"], str(store.path) in body["reasons"][0]) == ("degraded", True)
    assert viewer.get("/metrics").status == 200
    assert not store.path.exists()


def test_probes_of_one_moment_look_once(anonymous: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Path] = []
    monkeypatch.setattr(health, "fault_of_store", lambda path: looks.append(path))
    monkeypatch.setattr(health.time, "monotonic", lambda: 1_000_000.25)
    anonymous.get("/readyz")
    stores = len(looks)
    anonymous.get("/readyz")
    assert len(looks) == stores > 0
    monkeypatch.setattr(health.time, "monotonic", lambda: 1_000_001.25)
    anonymous.get("/readyz")
    assert len(looks) == 2 * stores


def test_a_store_that_another_writes_to_is_ready(anonymous: Caller, store: Opening) -> None:
    with closing(sqlite3.connect(store.path, isolation_level=None)) as foreign:
        foreign.execute("BEGIN IMMEDIATE")
        assert anonymous.get("/readyz").status == 200


def test_a_store_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    fault = health.fault_of_store(tmp_path / "nowhere" / "x.db")
    assert fault is not None
    assert "cannot be used" in fault


def test_the_status_has_every_part(viewer: Caller, instance: Instance) -> None:
    body = viewer.get(STATUS).body
    uptime = body.pop("uptime_s")
    stores = {store["name"]: store for store in body.pop("stores")}
    assert body == {
        "status": "ok",
        "reasons": [],
        "version": VERSION,
        "index": {"pending": 0},
        "embeddings": {"model": None, "pending": 0, "breaker": "closed"},
        "gateway": {"configured": False, "address": None, "model": None},
        "harvest": {"due": 0, "failed": 0},
    }
    assert uptime >= 0
    assert stores["knowledge"]["path"] == str(instance.paths.knowledge_db)
    assert stores["console"]["path"] == str(instance.paths.console_db)
    assert all(store["usable"] and store["bytes"] > 0 for store in stores.values())


def configured(settings: Any, instance: Instance, config: Config) -> None:
    settings.INSTANCE = replace(instance, config=config)


def test_every_reason_is_told(
    viewer: Caller, settings: Any, instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = instance.config
    knowledge = replace(config.knowledge, embeddings=True)
    configured(settings, instance, replace(config, knowledge=knowledge, warnings=("an odd key",)))
    failed = StepReport("sweep", 1, 1, "2026-01-01", "no space", "2026-01-01")
    stood_still = StepReport("index", 1, 0, "2026-01-01T00:00:00+00:00")
    monkeypatch.setattr(maintenance, "report", lambda: [failed, stood_still])
    body = viewer.get(STATUS).body
    assert body["status"] == "degraded"
    assert body["reasons"] == [
        "knowledge.embeddings is on, but this release ranks by keywords only",
        "an odd key",
        "the maintenance step sweep failed at 2026-01-01: no space",
        "the maintenance work has stood still since 2026-01-01T00:00:00+00:00; look into the server's log",
    ]
    assert body["embeddings"] == {"model": "qwen3-embedding", "pending": 0, "breaker": "open"}


@pytest.mark.usefixtures("legacy")
def test_a_program_older_than_verdicts_is_a_reason_until_it_is_answered(
    legacy: Opening, viewer: Caller, settings: Any, instance: Instance
) -> None:
    if not legacy.older_program:
        fetch(KNOWLEDGE, "INSERT INTO _kb_meta VALUES ('pc_adopted_untyped', '2026-01-01')")
    (reason,) = viewer.get(STATUS).body["reasons"]
    assert "knowledge.reject_invalidates" in reason
    knowledge = replace(instance.config.knowledge, reject_invalidates=True)
    configured(settings, instance, replace(instance.config, knowledge=knowledge))
    assert viewer.get(STATUS).body["status"] == "ok"


def test_the_gateway_is_named_without_its_password(viewer: Caller, settings: Any, instance: Instance) -> None:
    model = replace(
        instance.config.model, name="m", api_base="https://user:secret@gateway:4000/v1", api_key="k"
    )
    configured(settings, instance, replace(instance.config, model=model))
    reply = viewer.get(STATUS)
    assert reply.body["gateway"] == {"configured": True, "address": "https://gateway:4000/v1", "model": "m"}


def measured(caller: Caller) -> dict[str, float]:
    reply = caller.get("/metrics")
    assert reply.status == 200
    assert reply.headers["Content-Type"].startswith("text/plain")
    lines = [line for line in reply.body.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_requests_are_counted_by_route_and_writes_by_outcome(viewer: Caller, operator: Caller) -> None:
    route = 'method="GET",route="/api/knowledge/chunks/<chunk_id>"'
    before = measured(viewer)
    row = added(operator)
    operator.post(CHUNKS, {"content": "<think>hm</think>"})
    operator.get(f"{CHUNKS}/{row['id']}")
    operator.get(f"{CHUNKS}/999")
    after = measured(viewer)

    def grown(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert grown(f'protoconsole_requests_total{{{route},status="200"}}') == 1
    assert grown(f'protoconsole_requests_total{{{route},status="404"}}') == 1
    assert grown(f"protoconsole_request_seconds_count{{{route}}}") == 2
    assert grown('protoconsole_writes_total{outcome="stored"}') == 1
    assert grown('protoconsole_writes_total{outcome="dropped"}') == 1
    assert after['protoconsole_rows{state="confirmed"}'] == 1
    assert after["protoconsole_index_pending"] == 0


def test_a_method_that_nobody_knows_makes_no_series_of_its_own(viewer: Caller, operator: Caller) -> None:
    operator("BREW", CHUNKS)
    assert not any("BREW" in name for name in measured(viewer))


def test_the_version_is_that_of_the_project() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["version"] == VERSION
