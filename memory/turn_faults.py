"""What went wrong while turns were composed and recorded, none of which was stopped by it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from django.db import DatabaseError
from django.utils import timezone
from prometheus_client import Counter

from knowledge.times import to_iso
from protoconsole.errors import StoreBusy

FAULTS = Counter("protoconsole_turn_faults", "Turns that went out with less than they should", ["fault"])

_log = logging.getLogger("protoconsole.delivery")
_latest: dict["TurnFault", str] = {}


class TurnFault(StrEnum):
    SEARCH = "search"  # the turn was told nothing that was searched for
    LOG = "log"  # the turn was not recorded
    NOTES = "notes"  # the turn left no note in the console's own store


_CONSEQUENCES = {
    TurnFault.SEARCH: "turns go out without search hits",
    TurnFault.LOG: "turns are not recorded in the injection log",
    TurnFault.NOTES: "turns claim no session and note no model",
}


def note(fault: TurnFault, error: Exception) -> None:
    """Count a fault, and show it until the next turn that fares better."""
    FAULTS.labels(fault).inc()
    if fault not in _latest:
        _log.error("%s: %s", _CONSEQUENCES[fault], error)
    _latest[fault] = f"{_CONSEQUENCES[fault]} (last at {to_iso(timezone.now())}): {error}"


def mended(fault: TurnFault) -> None:
    _latest.pop(fault, None)


@contextmanager
def notes_can_wait() -> Iterator[None]:
    """Let a turn go out although a note of it cannot be written; the next turn notes the same.

    A store that is only busy is no fault. One that is full or read-only would refuse every turn.
    """
    try:
        yield
    except StoreBusy:
        return
    except (DatabaseError, OSError) as error:
        note(TurnFault.NOTES, error)
    else:
        mended(TurnFault.NOTES)


def reasons() -> list[str]:
    """Say what this process could not do for the latest turns."""
    return list(_latest.values())
