"""What the commands say of the injection log."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from knowledge.adoption import Opening
from memory.injections import head, queries
from memory.injections.types import TurnQuery
from protoconsole import maintenance, startup
from protoconsole.databases import INJECTIONS, fetch
from protoconsole.instance import Instance
from tests.memory.turns import recorded_many


def doctor(*options: str) -> list[str]:
    """Give the lines about the log."""
    out = StringIO()
    try:
        call_command("doctor", *options, stdout=out)
    except CommandError as error:
        out.write(f"\nexit: {error}")
    return [line for line in out.getvalue().splitlines() if " inject" in line or line.startswith("exit")]


@pytest.fixture
def closed(store: Opening, instance: Instance) -> Instance:
    instance.paths.instance_root.chmod(0o700)
    instance.paths.console_db.chmod(0o600)
    return instance


def test_a_sound_log_is_told_part_by_part(closed: Instance) -> None:
    recorded_many(2)

    lines = doctor()

    assert [line.split()[0] for line in lines] == ["ok"] * 6
    assert "2 rows chained, 0 of another program unchained" in "\n".join(lines)


def test_the_first_broken_row_is_named_and_repair_does_not_hide_it(closed: Instance) -> None:
    recorded_many(3)
    fetch(INJECTIONS, "UPDATE injections SET session_id = 'chat-2' WHERE id = 2")

    for options in ((), ("--repair",), ()):
        lines = doctor(*options)
        assert lines[-1].startswith("exit")
        assert any("broken at row #2" in line for line in lines)


def test_an_open_mode_of_the_key_is_closed(closed: Instance) -> None:
    recorded_many(1)
    key = closed.paths.instance_root / "log.key"
    key.chmod(0o644)
    head.path().chmod(0o644)

    doctor("--repair")

    assert (key.stat().st_mode & 0o777, head.path().stat().st_mode & 0o777) == (0o600, 0o600)


def test_a_log_that_was_never_opened_is_left_alone(instance: Instance, legacy_files: object) -> None:
    before = instance.paths.injection_log.read_bytes()

    lines = doctor("--repair")

    assert any("was never opened by protoconsole" in line for line in lines)
    assert instance.paths.injection_log.read_bytes() == before


def test_no_log_is_no_fault_and_none_is_made(instance: Instance) -> None:
    assert any("none yet" in line for line in doctor())
    assert not instance.paths.injection_log.exists()


def test_a_broken_file_is_named(closed: Instance) -> None:
    closed.paths.injection_log.write_bytes(b"no database at all")

    assert any("is not a SQLite database" in line for line in doctor())


def test_a_start_opens_the_log_and_names_the_copy(instance: Instance, legacy_files: object) -> None:
    start = startup.prepare(timezone.now())

    message = "\n".join(startup.start_message("http://127.0.0.1:8000", start))

    log = instance.paths.injection_log
    assert f"injections {log}" in message
    assert f"copy made before the first change: {log}.before-schema-1" in message
    assert len(queries.turns(TurnQuery(), limit=200).items) == 141


def test_the_maintenance_work_catches_up(store: Opening) -> None:
    fetch(INJECTIONS, "INSERT INTO injections (ts, hot_chunk_ids) VALUES ('2026-12-01', '[3]')")

    maintenance.Maintenance().round()

    found = fetch(INJECTIONS, "SELECT injection_id FROM pc_injection_items WHERE kind = 2 AND ref = 3")
    assert found == [(1,)]
