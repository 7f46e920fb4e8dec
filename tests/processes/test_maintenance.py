"""The loop of maintenance: what it works off, what it outlives, and that only one works."""

import errno
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from prometheus_client import REGISTRY

from knowledge.adoption import Opening
from protoconsole import maintenance
from protoconsole.errors import StoreBusy
from protoconsole.instance import Instance
from protoconsole.maintenance import Maintenance, Step, StepReport

NOON = datetime.fromisoformat("2026-06-01T12:00:00+00:00")


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The moment that the clock shows: the last of the list."""
    moments = [NOON]
    monkeypatch.setattr(timezone, "now", lambda: moments[-1])
    return moments


def reported(monkeypatch: pytest.MonkeyPatch, *steps: Step) -> dict[str, StepReport]:
    monkeypatch.setattr(maintenance, "STEPS", steps)
    return {step.name: step for step in maintenance.report()}


def test_a_step_is_worked_until_nothing_is_left(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [500, 500, 3, 0]
    step = Step("index", lambda: left.pop(0))
    assert Maintenance([step]).round() is True
    assert left == []
    assert reported(monkeypatch, step)["index"].runs == 1


def test_endless_work_lets_the_others_have_their_turn(instance: Instance) -> None:
    turns: list[str] = []
    steps = [Step("endless", lambda: 1), Step("other", lambda: turns.append("other") or 0)]
    assert Maintenance(steps).round() is True
    assert turns == ["other"]


def test_a_failure_is_kept_and_hurts_no_other_step(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, at: list[datetime]
) -> None:
    def fail() -> int:
        raise ZeroDivisionError("by nought")

    steps = (Step("bad", fail), Step("good", lambda: 0))
    Maintenance(steps).round()
    reports = reported(monkeypatch, *steps)
    assert reports["bad"] == StepReport(
        "bad", 1, 1, "2026-06-01T12:00:00+00:00", "ZeroDivisionError: by nought", "2026-06-01T12:00:00+00:00"
    )
    assert reports["bad"].failing
    assert (reports["good"].runs, reports["good"].failing) == (1, False)


def test_after_a_success_the_last_error_stays_and_is_past(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, at: list[datetime]
) -> None:
    answers = [OSError("full"), 0]

    def work() -> int:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    step = Step("sweep", work)
    Maintenance([step]).round()
    at.append(NOON + timedelta(seconds=15))
    Maintenance([step]).round()
    kept = reported(monkeypatch, step)["sweep"]
    assert (kept.runs, kept.failures, kept.last_error, kept.failing) == (2, 1, "OSError: full", False)


def test_a_busy_store_is_no_failure(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> int:
        raise StoreBusy("later")

    step = Step("index", busy)
    assert Maintenance([step]).round() is False
    assert reported(monkeypatch, step)["index"] == StepReport("index")


@pytest.mark.parametrize(("hours", "runs"), [(23, 1), (24, 2)])
def test_a_daily_step_is_due_after_a_day_also_in_a_new_process(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, at: list[datetime], hours: int, runs: int
) -> None:
    step = Step("sessions", lambda: 0, timedelta(days=1))
    Maintenance([step]).round()
    at.append(NOON + timedelta(hours=hours))
    Maintenance([step]).round()
    assert reported(monkeypatch, step)["sessions"].runs == runs


def test_a_report_that_cannot_be_read_is_begun_anew(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    (instance.paths.instance_root / maintenance.REPORT_FILE).write_text('{"index": [1')
    step = Step("index", lambda: 0)
    Maintenance([step]).round()
    assert reported(monkeypatch, step)["index"].runs == 1


def test_one_works_at_a_time_and_the_next_takes_over(store: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "PAUSE_S", 0.02)
    begun = [threading.Event(), threading.Event()]
    first, second = (Maintenance([Step("mark", lambda event=event: event.set() or 0)]) for event in begun)
    first.start()
    assert begun[0].wait(10)
    second.start()
    assert not begun[1].wait(0.2)
    first.stop()
    assert begun[1].wait(10)
    second.stop()


def test_the_real_steps_run_on_a_new_store(store: Opening) -> None:
    Maintenance().round()
    fared = {step.name: (step.runs, step.failures) for step in maintenance.report()}
    assert fared == dict.fromkeys((step.name for step in maintenance.STEPS), (1, 0))


def test_the_loop_outlives_a_full_disk(store: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "PAUSE_S", 0.02)
    write, disk_is_full, written = maintenance._write, threading.Event(), threading.Event()
    disk_is_full.set()
    refused = threading.Event()

    def write_while_there_is_room(file: Path, reports: Mapping[str, StepReport]) -> None:
        if disk_is_full.is_set():
            refused.set()
            raise OSError(errno.ENOSPC, "No space left on device")
        write(file, reports)
        written.set()

    monkeypatch.setattr(maintenance, "_write", write_while_there_is_room)
    lost = REGISTRY.get_sample_value("protoconsole_maintenance_rounds_lost_total") or 0
    loop = Maintenance([Step("index", lambda: 0)])
    loop.start()
    assert refused.wait(10)
    disk_is_full.clear()
    assert written.wait(10)
    loop.stop()
    assert (REGISTRY.get_sample_value("protoconsole_maintenance_rounds_lost_total") or 0) > lost


@pytest.mark.parametrize(("minutes", "is_silent"), [(5, False), (6, True)])
def test_a_loop_that_stands_still_is_noticed(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, at: list[datetime], minutes: int, is_silent: bool
) -> None:
    steps = (Step("index", lambda: 0), Step("sessions", lambda: 0, timedelta(days=1)))
    monkeypatch.setattr(maintenance, "STEPS", steps)
    assert maintenance.silent_since(NOON) is None
    Maintenance(steps).round()
    later = NOON + timedelta(minutes=minutes)
    assert maintenance.silent_since(later) == (NOON if is_silent else None)
