import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from pytest_django.fixtures import Settings

from knowledge import services
from knowledge.adoption import Opening
from knowledge.types import NewChunk
from protoconsole.databases import KNOWLEDGE, fetch
from protoconsole.instance import Instance, load_instance
from tests.actors import OPERATOR


def doctor(*options: str) -> str:
    out = StringIO()
    call_command("doctor", *options, stdout=out)
    return out.getvalue()


def lines_about(name: str, report: str) -> list[str]:
    return [line for line in report.splitlines() if line[9:].startswith(name)]


@pytest.fixture
def closed(store: Opening, instance: Instance) -> Instance:
    """An instance whose modes are as a start makes them."""
    instance.paths.instance_root.chmod(0o700)
    instance.paths.console_db.chmod(0o600)
    return instance


def configure(instance: Instance, settings: Settings, text: str) -> None:
    (instance.paths.instance_root / "config.yaml").write_text(text)
    settings.INSTANCE = load_instance({"PROTOAGENT_HOME": str(instance.paths.instance_root)})


def test_all_is_well(closed: Instance) -> None:
    services.add(NewChunk("tea"), OPERATOR)

    report = doctor()

    assert {line.split()[0] for line in report.splitlines()} == {"ok"}


def test_a_fault_is_named_with_its_mend_and_repaired(closed: Instance) -> None:
    services.add(NewChunk("tea"), OPERATOR)
    fetch(KNOWLEDGE, "INSERT INTO pc_search (pc_search) VALUES ('delete-all')")

    out = StringIO()
    with pytest.raises(CommandError, match=r"1 of \d+ checks"):
        call_command("doctor", stdout=out)
    assert "fault    search index" in out.getvalue()
    assert "doctor --repair" in out.getvalue()

    assert "ok       search index" in doctor("--repair")


def test_open_modes_are_a_warning_and_closed_by_repair(closed: Instance) -> None:
    closed.paths.knowledge_db.chmod(0o644)
    assert f"warning  modes of files     {closed.paths.knowledge_db} is 0644" in doctor()

    assert "ok       modes of files" in doctor("--repair")

    assert closed.paths.knowledge_db.stat().st_mode & 0o777 == 0o600


def test_a_store_that_was_never_opened_is_left_alone(instance: Instance, legacy_files: Path) -> None:
    before = legacy_files.read_bytes()
    out = StringIO()

    with pytest.raises(CommandError):
        call_command("doctor", "--repair", stdout=out)

    assert "never opened" in out.getvalue()
    assert legacy_files.read_bytes() == before


def test_no_sqlite_file_is_a_fault(closed: Instance) -> None:
    closed.paths.injection_log.write_text("not a database" * 100)
    out = StringIO()

    with pytest.raises(CommandError):
        call_command("doctor", stdout=out)

    assert "fault    injection log" in out.getvalue()


def test_an_unreadable_expiry_is_named(closed: Instance) -> None:
    chunk = services.add(NewChunk("tea"), OPERATOR).chunk
    assert chunk is not None
    fetch(KNOWLEDGE, "UPDATE chunks SET expires_at = 'soon'")
    out = StringIO()

    with pytest.raises(CommandError):
        call_command("doctor", stdout=out)

    assert f"#{chunk.id}: 'soon'" in out.getvalue()


def test_unknown_settings_are_a_warning(closed: Instance, settings: Settings) -> None:
    configure(closed, settings, "knowledge: {topk: 3}\n")

    report = doctor()

    assert any("top_k" in line for line in lines_about("settings", report))


def test_the_older_program_is_a_warning_with_its_mend(legacy: Opening, instance: Instance) -> None:
    report = doctor()

    assert "warning  other program" in report
    assert "reject_invalidates: true" in report


class Gateway(BaseHTTPRequestHandler):
    """A model server that answers `/v1/models` with whatever a test says."""

    status, body, seen_key = 200, "", ""

    def do_GET(self) -> None:
        Gateway.seen_key = self.headers.get("Authorization", "")
        self.send_response(Gateway.status if self.path == "/v1/models" else 404)
        self.end_headers()
        self.wfile.write(Gateway.body.encode())

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def gateway() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("suffix", ["", "/v1", "/v1/"])
def test_a_gateway_is_asked_for_its_models(
    closed: Instance, settings: Settings, gateway: str, suffix: str
) -> None:
    Gateway.status, Gateway.body = 200, json.dumps({"data": [{"id": "small"}, {"id": "large"}]})
    configure(closed, settings, f"model: {{api_base: '{gateway}{suffix}', api_key: sk-1}}\n")

    assert lines_about("gateway", doctor()) == ["ok       gateway            serves 2 models"]
    assert Gateway.seen_key == "Bearer sk-1"


@pytest.mark.parametrize(
    ("status", "body"),
    [(401, "{}"), (502, "<html>bad gateway</html>"), (200, "<html>"), (200, "[]"), (200, '{"data": 7}')],
)
def test_a_gateway_that_answers_wrongly_is_a_fault(
    closed: Instance, settings: Settings, gateway: str, status: int, body: str
) -> None:
    Gateway.status, Gateway.body = status, body
    configure(closed, settings, f"model: {{api_base: '{gateway}', api_key: sk-secret}}\n")
    out = StringIO()

    with pytest.raises(CommandError):
        call_command("doctor", stdout=out)

    assert "fault    gateway" in out.getvalue()
    assert "sk-secret" not in out.getvalue()


def test_a_gateway_that_is_not_there_is_a_fault(closed: Instance, settings: Settings) -> None:
    configure(closed, settings, "model: {api_base: 'http://127.0.0.1:9'}\n")

    with pytest.raises(CommandError):
        doctor()


@pytest.mark.parametrize("options", [(), ("--repair",)])
@pytest.mark.parametrize("file", ["knowledge_db", "injection_log"])
def test_what_no_repair_can_mend_is_one_line(closed: Instance, file: str, options: tuple[str, ...]) -> None:
    path: Path = getattr(closed.paths, file)
    connections.close_all()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 8_000)
    path.chmod(0o644)
    before = path.read_bytes()

    with pytest.raises(CommandError) as refused:
        call_command("doctor", *options, stdout=StringIO())

    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before
    assert path.stat().st_mode & 0o777 == 0o644
