"""What went wrong while turns were composed and recorded, none of which was stopped by it."""

import logging
from enum import StrEnum

from django.utils import timezone
from prometheus_client import Counter

from knowledge.times import to_iso

FAULTS = Counter("protoconsole_turn_faults", "Turns that went out with less than they should", ["fault"])

_log = logging.getLogger("protoconsole.delivery")
_latest: dict["TurnFault", str] = {}


class TurnFault(StrEnum):
    SEARCH = "search"  # the turn was told nothing that was searched for
    LOG = "log"  # the turn was not recorded


_CONSEQUENCES = {
    TurnFault.SEARCH: "turns go out without search hits",
    TurnFault.LOG: "turns are not recorded in the injection log",
}


def note(fault: TurnFault, error: Exception) -> None:
    """Count a fault, and show it until the next turn that fares better."""
    FAULTS.labels(fault).inc()
    if fault not in _latest:
        _log.error("%s: %s", _CONSEQUENCES[fault], error)
    _latest[fault] = f"{_CONSEQUENCES[fault]} (last at {to_iso(timezone.now())}): {error}"


def mended(fault: TurnFault) -> None:
    _latest.pop(fault, None)


def reasons() -> list[str]:
    """Say what this process could not do for the latest turns."""
    return list(_latest.values())
