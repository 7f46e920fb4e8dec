"""The results of checks, the same for every part that checks itself."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was looked at, how it came out, and what to do about it ('' where nothing)."""

    name: str
    level: Level
    detail: str
    mend: str = ""

    @property
    def ok(self) -> bool:
        return self.level is not Level.FAULT


def found(name: str, faults: list[str], *, well: str, mend: str) -> Finding:
    """Make a fault of a list of sentences, or say that all is well where it is empty."""
    if faults:
        return Finding(name, Level.FAULT, "; ".join(faults), mend)
    return Finding(name, Level.OK, well)
