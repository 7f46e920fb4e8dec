"""Which words differ between two texts. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import takewhile

# The matcher is quadratic in the worst case; above this many pairs, coarser units are compared.
MAX_PAIRS = 1_000_000
WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")
LINES = re.compile(r"[^\n]*\n|[^\n]+")


class Change(StrEnum):
    """What became of a stretch of text."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class DiffPart:
    """A stretch of text that was kept, removed or added."""

    change: Change
    text: str


def word_diff(before: str, after: str) -> list[DiffPart]:
    """Return the parts in reading order: without the added they are `before`, without the removed `after`."""
    old, new = _units(before, after)
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    parts = [
        (Change.SAME, old[:head]),
        *_changes(old[head : len(old) - tail], new[head : len(new) - tail]),
        (Change.SAME, old[len(old) - tail :]),
    ]
    return [DiffPart(change, "".join(units)) for change, units in parts if units]


def _units(before: str, after: str) -> tuple[list[str], list[str]]:
    for pattern in (WORDS, LINES):
        old, new = pattern.findall(before), pattern.findall(after)
        if len(old) * len(new) <= MAX_PAIRS:
            return old, new
    return [before], [after]


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Change, Sequence[str]]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            yield Change.SAME, old[a:b]
        else:
            yield Change.REMOVED, old[a:b]
            yield Change.ADDED, new[c:d]
