"""Word by word, what an edit took away and what it put in; for display.

The comparison is Myers' greedy search with a ceiling on its work. Where words differ too much for it, lines
are compared; where these do too, all between the common beginning and end counts as replaced.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

Piece = tuple["Change", str]

_MAX_STEPS = 400_000
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff"
_split_words: Callable[[str], list[str]] = re.compile(
    rf"\s*(?:[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+|[^\w\s])|\s+"
).findall
_split_lines: Callable[[str], list[str]] = re.compile(r"[^\n]*\n|[^\n]+").findall


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
    return [DiffPart(change, text) for change, text in _joined(_compared(before, after))]


def _compared(old: str, new: str) -> list[Piece]:
    for split in (_split_words, _split_lines):
        changes = _changes(split(old), split(new))
        if changes is not None:
            return changes
    head, a, b, tail = _trimmed(_split_words(old), _split_words(new))
    return [
        *_all(Change.SAME, head),
        *_all(Change.REMOVED, a),
        *_all(Change.ADDED, b),
        *_all(Change.SAME, tail),
    ]


def _changes(old: Sequence[str], new: Sequence[str]) -> list[Piece] | None:
    """Compare two sequences; None when it would take too long."""
    head, a, b, tail = _trimmed(old, new)
    trace = _search(a, b)
    if trace is None:
        return None
    return [*_all(Change.SAME, head), *reversed(list(_backtrack(a, b, trace))), *_all(Change.SAME, tail)]


def _trimmed(
    old: Sequence[str], new: Sequence[str]
) -> tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[str]]:
    """Split off the common beginning and the common end."""
    head = _common(old, new)
    a, b = old[head:], new[head:]
    tail = _common(a[::-1], b[::-1])
    return old[:head], a[: len(a) - tail], b[: len(b) - tail], old[len(old) - tail :]


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    return next(
        (n for n, (left, right) in enumerate(zip(a, b, strict=False)) if left != right), min(len(a), len(b))
    )


def _all(change: Change, pieces: Sequence[str]) -> Iterator[Piece]:
    return ((change, piece) for piece in pieces)


Reach = dict[int, int]  # diagonal (position in a less position in b) → furthest position in a


def _search(a: Sequence[str], b: Sequence[str]) -> list[Reach] | None:
    """Return the reach before 0, 1, 2, … edits, up to the number that is needed; None beyond the ceiling."""
    reach: Reach = {1: 0}
    trace: list[Reach] = []
    steps = 0
    while steps <= _MAX_STEPS:
        edits = len(trace)
        trace.append(reach)
        entries = {d: _entry(reach, d, edits) for d in range(-edits, edits + 1, 2)}
        reach = {d: _furthest(a, b, d, x) for d, x in entries.items()}
        if reach.get(len(a) - len(b), -1) >= len(a):
            return trace
        steps += len(entries) + sum(reach.values()) - sum(entries.values())
    return None


def _entry(reach: Reach, diagonal: int, edits: int) -> int:
    """Return where a path comes onto a diagonal: by a new word from above or a gone word from below."""
    if diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]):
        return reach[diagonal + 1]
    return reach[diagonal - 1] + 1


def _furthest(a: Sequence[str], b: Sequence[str], diagonal: int, x: int) -> int:
    while x < len(a) and 0 <= x - diagonal < len(b) and a[x] == b[x - diagonal]:
        x += 1
    return x


def _backtrack(a: Sequence[str], b: Sequence[str], trace: Sequence[Reach]) -> Iterator[Piece]:
    """Yield the changes from the end to the beginning."""
    x, y = len(a), len(b)
    for edits in reversed(range(len(trace))):
        diagonal = x - y
        entry = _entry(trace[edits], diagonal, edits)
        yield from _all(Change.SAME, a[entry:x][::-1])
        x, y = entry, entry - diagonal
        if not edits:
            return
        if diagonal == -edits or trace[edits].get(diagonal + 1) == x:
            y -= 1
            yield (Change.ADDED, b[y])
        else:
            x -= 1
            yield (Change.REMOVED, a[x])


def _joined(changes: Sequence[Piece]) -> list[Piece]:
    """Join neighbours; where words were replaced, all that are gone come before all that are new."""
    parts: list[Piece] = []
    for _, run in groupby(changes, lambda part: part[0] == Change.SAME):
        pieces: dict[Change, list[str]] = {Change.SAME: [], Change.REMOVED: [], Change.ADDED: []}
        for change, piece in run:
            pieces[change].append(piece)
        parts += [(change, "".join(texts)) for change, texts in pieces.items() if texts]
    return parts
