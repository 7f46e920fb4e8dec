"""Shortens a diff to what changed and the words around it, so that a long text stays a short read. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.diffs import Change, DiffPart

AROUND = 120  # characters of unchanged text kept on each side of a change
MOST = 1_500  # characters of one changed stretch that are shown


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of text, with its middle left out where it is long."""

    change: Change
    head: str
    skipped: int = 0
    tail: str = ""


def excerpts(parts: Sequence[DiffPart]) -> list[Excerpt]:
    """Shorten the parts of a diff."""
    last = len(parts) - 1
    return [_excerpt(part, is_first=n == 0, is_last=n == last) for n, part in enumerate(parts)]


def _excerpt(part: DiffPart, *, is_first: bool, is_last: bool) -> Excerpt:
    if part.change is not Change.SAME:
        return _cut(part, MOST // 2, MOST // 2)
    if is_first and is_last:
        return _cut(part, AROUND, AROUND)
    return _cut(part, 0 if is_first else AROUND, 0 if is_last else AROUND)


def _cut(part: DiffPart, before: int, after: int) -> Excerpt:
    skipped = len(part.text) - before - after
    if skipped <= AROUND:
        return Excerpt(part.change, part.text)
    return Excerpt(part.change, part.text[:before], skipped, part.text[len(part.text) - after :])
