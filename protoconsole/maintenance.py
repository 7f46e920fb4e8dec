"""The work between requests: a loop over what the tables say is still to be done.

Every process of a server tries for one lock, and the one that holds it works. All state is in the stores, so
the loop may be killed at any moment and the next holder of the lock goes on.
"""

import fcntl
import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from django.core.management import call_command
from django.db import close_old_connections, connections
from django.utils import timezone

from knowledge.catch_up import catch_up
from knowledge.services.bulk import sweep
from knowledge.times import parse_iso, to_iso
from memory.deleting import sweep_deleted
from memory.injections import index as injection_index
from memory.injections.retention import prune
from memory.session_index import deep_sync
from memory.windows import learn_next
from protoconsole.databases import CONSOLE, write_transaction
from protoconsole.errors import StoreBusy
from protoconsole.instance import current
from protoconsole.metrics import ROUNDS_LOST
from protoconsole.paths import private_opener

LOCK_FILE = "maintenance.lock"
REPORT_FILE = "maintenance.json"
PAUSE_AFTER_WORK_S = 1.0
PAUSE_S = 15.0
SILENCE_IS_A_FAULT = timedelta(minutes=5)
PIECES_AT_ONCE = 100  # so that a step with endless work lets the others have their turn

_log = logging.getLogger("protoconsole.maintenance")


@dataclass(frozen=True, slots=True)
class Step:
    """A kind of work: `work` does one short piece and says how much that was, 0 when none is left.

    `pieces` is how many a round does at most, fewer where a piece waits for somebody else.
    """

    name: str
    work: Callable[[], int]
    every: timedelta = timedelta(0)
    pieces: int = PIECES_AT_ONCE


@dataclass(frozen=True, slots=True)
class StepReport:
    """How a step has fared since the instance was made. Times are ISO 8601 text."""

    name: str
    runs: int = 0
    failures: int = 0
    last_run: str | None = None
    last_error: str | None = None
    last_error_at: str | None = None

    @property
    def failing(self) -> bool:
        """True while the latest run is one that failed."""
        return self.last_error_at is not None and self.last_error_at == self.last_run


def checkpoint() -> int:
    """Copy the write-ahead logs into their stores, unless somebody is reading or writing just now."""
    for alias in connections:
        path = connections[alias].settings_dict["NAME"]
        # A connection of its own, since this one must not wait for anybody.
        with closing(sqlite3.connect(path, timeout=0)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return 0


def prune_injections() -> int:
    """Remove a piece of what the injection log need no longer keep."""
    return prune(timezone.now())


def clear_sessions() -> int:
    """Remove the sign-ins that have lapsed."""
    with write_transaction(CONSOLE):
        call_command("clearsessions")
    return 0


STEPS = (
    Step("index", catch_up),
    Step("sweep", sweep),
    Step("injection index", injection_index.catch_up),
    Step("injection retention", prune_injections, timedelta(hours=1)),
    Step("session index", deep_sync, timedelta(minutes=1)),
    Step("model windows", learn_next, pieces=1),
    Step("deleted sessions", sweep_deleted, timedelta(hours=1)),
    Step("checkpoint", checkpoint, timedelta(minutes=5)),
    Step("sessions", clear_sessions, timedelta(days=1)),
)


def report() -> Sequence[StepReport]:
    """Say how each step fares, whichever process works on it."""
    kept = _read(_folder() / REPORT_FILE)
    return [kept.get(step.name, StepReport(step.name)) for step in STEPS]


def silent_since(now: datetime) -> datetime | None:
    """Tell when a step that belongs to every round last ran, where that is too long ago; else None.

    Before the first round there is nothing to miss.
    """
    every_round = {step.name for step in STEPS if not step.every}
    runs = [parse_iso(step.last_run or "") for step in report() if step.name in every_round]
    last = max(filter(None, runs), default=None)
    return last if last is not None and now - last > SILENCE_IS_A_FAULT else None


class Maintenance:
    """The loop of one process, in a thread of its own."""

    def __init__(self, steps: Sequence[Step] = STEPS) -> None:
        self._steps = steps
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._live, name="maintenance", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Finish the piece that is being worked on, then end."""
        self._stopping.set()
        self._thread.join()

    def round(self) -> bool:
        """Give every step that is due its turn; True when one of them found work."""
        close_old_connections()
        file = _folder() / REPORT_FILE
        before = _read(file)
        after = dict(before)
        worked = False
        for step in self._steps:
            now = timezone.now()
            known = before.get(step.name, StepReport(step.name))
            if not self._stopping.is_set() and _is_due(step, known, now):
                after[step.name], found = self._turn(step, known, to_iso(now))
                worked = worked or found
        _write(file, after)
        return worked

    def _live(self) -> None:
        while not self._stopping.is_set():
            try:
                self._work_while_mine()
            except (OSError, sqlite3.Error):
                # A full disk must not end the loop: the work goes on once there is room again.
                ROUNDS_LOST.inc()
                _log.exception("a round of maintenance could not be finished")
            self._stopping.wait(PAUSE_S)
        connections.close_all()

    def _work_while_mine(self) -> None:
        """Work round after round while this process holds the lock; return at once where another does."""
        with _only_one(_folder() / LOCK_FILE) as mine:
            while mine and not self._stopping.is_set():
                self._stopping.wait(PAUSE_AFTER_WORK_S if self.round() else PAUSE_S)
            if mine:
                checkpoint()

    def _turn(self, step: Step, known: StepReport, now: str) -> tuple[StepReport, bool]:
        try:
            found = self._work(step)
        except StoreBusy:
            return known, False
        except Exception as error:  # noqa: BLE001 - one broken step must not end the others; it is shown
            return _failed(known, now, f"{type(error).__name__}: {error}"), False
        return replace(known, runs=known.runs + 1, last_run=now), found

    def _work(self, step: Step) -> bool:
        for piece in range(step.pieces):
            if self._stopping.is_set() or not step.work():
                return piece > 0
        return True


def _is_due(step: Step, known: StepReport, now: datetime) -> bool:
    last = parse_iso(known.last_run or "")
    return last is None or now - last >= step.every


def _failed(known: StepReport, now: str, error: str) -> StepReport:
    if error != known.last_error or not known.failing:
        _log.exception("the step %s failed", known.name)
    return replace(
        known,
        runs=known.runs + 1,
        failures=known.failures + 1,
        last_run=now,
        last_error=error,
        last_error_at=now,
    )


def _folder() -> Path:
    return current().paths.instance_root


@contextmanager
def _only_one(lock: Path) -> Iterator[bool]:
    """Give True to one holder at a time, False to all others at once."""
    with open(lock, "a", encoding="ascii", opener=private_opener) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _read(file: Path) -> dict[str, StepReport]:
    try:
        kept = json.loads(file.read_text("utf-8"))
        return {name: StepReport(**fields) for name, fields in kept.items()}
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}  # counted anew: nothing depends on it


def _write(file: Path, reports: Mapping[str, StepReport]) -> None:
    aside = file.with_suffix(".part")
    with open(aside, "w", encoding="utf-8", opener=private_opener) as target:
        json.dump({name: asdict(kept) for name, kept in reports.items()}, target)
    aside.replace(file)
