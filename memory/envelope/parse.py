"""Read a projection back, and refuse whatever the renderer could not have written."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from knowledge.types import TrustTier
from memory.envelope.escape import escape, label
from memory.envelope.frames import ENVELOPE, FRAMES, INSIDE, OUTSIDE, SEPARATOR, UNKNOWN_DAY, Frame
from memory.types import Part


class Malformed(ValueError):
    """The text is no projection; says which line, counted from 1."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a projection: its words as they stand there, and what it claims to be.

    Memory has `domain`, `date` and `label`, a session its `id`, a playbook its `name`; labels and names are
    given as escaped in the text.
    """

    part: Part
    words: str
    domain: str | None = None
    date: str | None = None
    label: str | None = None
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    entries: tuple[Entry, ...]

    def of(self, part: Part) -> list[Entry]:
        """Return the entries of one part, in order."""
        return [entry for entry in self.entries if entry.part is part]


_MEMORY = (
    r" \[(?P<domain>[^\[\]<>]*)\] (?P<text>.*)"
    rf" \(stored (?P<date>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|{UNKNOWN_DAY});"
    rf" trust: (?P<label>{'|'.join(tier.label for tier in TrustTier)})\)"
)
_ALWAYS_ON = re.compile(rf"\*{_MEMORY}")
_HIT = re.compile(rf"-{_MEMORY}")
_COUNT = re.compile(r"(?:0|[1-9][0-9]*) msgs")
_PLAYBOOK = re.compile(r"- (?P<name>[^\[\]<>]*?)(?: \[/(?P<slash>[^\[\]<>/][^\[\]<>]*)\])?")
_COMMITMENT = re.compile(r"(?:GOAL|PLAN|TASK|WATCH|SCHEDULE) \[(?P<labels>[^\[\]<>]*)\] (?P<text>.*)")


def parse(text: str) -> Parsed:
    """Return the entries of a projection in order; raise `Malformed` for any other text."""
    return Parsed(tuple(_entries(text)))


def _entries(text: str) -> Iterator[Entry]:
    lines = _Lines(text.split("\n") if text else [])
    if lines.skip(ENVELOPE.opening[:1]):
        lines.expect(ENVELOPE.opening[1:])
        inside = [entry for part in INSIDE for entry in _part(part, lines)]
        if not inside:
            raise lines.malformed("an empty envelope")
        yield from inside
        lines.expect(ENVELOPE.closing)
    for part in OUTSIDE:
        yield from _part(part, lines)
    lines.expect_end()


class _Lines:
    """The lines of a text and how far they have been read."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._next = 0

    def skip(self, wanted: tuple[str, ...]) -> bool:
        end = self._next + len(wanted)
        if tuple(self._lines[self._next : end]) != wanted:
            return False
        self._next = end
        return True

    def expect(self, wanted: tuple[str, ...]) -> None:
        if not self.skip(wanted):
            raise self.malformed(f"no {wanted[0]!r}")

    def expect_end(self) -> None:
        if self._next < len(self._lines):
            raise self.malformed("no line of a projection")

    def entries(self, read: Callable[[str], Entry | None]) -> Iterator[Entry]:
        while self._next < len(self._lines) and (entry := read(self._lines[self._next])):
            self._next += 1
            yield entry

    def malformed(self, why: str) -> Malformed:
        return Malformed(f"line {self._next + 1}: {why}")


def _part(part: Part, lines: _Lines) -> list[Entry]:
    frame: Frame = FRAMES[part]
    if not lines.skip(frame.opening):
        return []
    entries = list(lines.entries(_READERS[part]))
    if not entries:
        raise lines.malformed(f"no entry of {part}")
    if frame.closing:
        lines.expect(frame.closing)
    return entries


def _session(line: str) -> Entry | None:
    fields = line.split(SEPARATOR)
    if len(fields) != 5 or not _COUNT.fullmatch(fields[4]):
        return None
    safe = _are_labels(fields[:3]) and _is_text(fields[3])
    return Entry(Part.PRIOR_SESSIONS, line, id=fields[0]) if safe else None


def _always_on(line: str) -> Entry | None:
    return _memory(Part.ALWAYS_ON, _ALWAYS_ON.fullmatch(line))


def _hit(line: str) -> Entry | None:
    return _memory(Part.HITS, _HIT.fullmatch(line))


def _memory(part: Part, read: re.Match[str] | None) -> Entry | None:
    if read is None or not _are_labels([read["domain"]]) or not _is_text(read["text"]):
        return None
    return Entry(part, read[0], domain=read["domain"], date=read["date"], label=read["label"])


def _playbook(line: str) -> Entry | None:
    head, described, description = line.partition(SEPARATOR)
    read = _PLAYBOOK.fullmatch(head)
    if read is None or not _are_labels([read["name"], read["slash"] or ""]):
        return None
    safe = bool(description) and _is_text(description) if described else True
    return Entry(Part.AVAILABLE_SKILLS, line, name=read["name"]) if safe else None


def _commitment(line: str) -> Entry | None:
    read = _COMMITMENT.fullmatch(line)
    if read is None or not _are_labels(read["labels"].split(SEPARATOR)) or not _is_text(read["text"]):
        return None
    return Entry(Part.WORKING_STATE, line)


def _are_labels(texts: list[str]) -> bool:
    return all(label(text) == text for text in texts)


def _is_text(text: str) -> bool:
    return escape(text) == text


_READERS: dict[Part, Callable[[str], Entry | None]] = {
    Part.PRIOR_SESSIONS: _session,
    Part.ALWAYS_ON: _always_on,
    Part.HITS: _hit,
    Part.AVAILABLE_SKILLS: _playbook,
    Part.WORKING_STATE: _commitment,
}
