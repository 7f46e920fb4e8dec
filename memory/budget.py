"""How large a projection may be, and what gives way when it is larger. Characters; no Django, no clock."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory.envelope.frames import ENVELOPE, FRAMES, INSIDE, ORDER
from memory.types import Part, Shed

CHARS_PER_TOKEN = 4
LEAST_CEILING_CHARS = 16_000
SKILLS_PCT = 2
UNKNOWN_WINDOW_SKILLS_CHARS = 8_192
SHED_ORDER = (Part.HITS, Part.PRIOR_SESSIONS, Part.AVAILABLE_SKILLS)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a part can give up, and the characters that the text loses with it."""

    label: Part
    chars: int


def ceiling_chars(window: int | None, budget_pct: float) -> int | None:
    """Return the most characters of a projection; None is unbounded. The window is in tokens."""
    if window is None or budget_pct <= 0:
        return None
    return max(LEAST_CEILING_CHARS, int(window * CHARS_PER_TOKEN * budget_pct / 100))


def skills_ceiling_chars(window: int | None) -> int:
    """Return the most characters that descriptions may fill the list of playbooks up to."""
    return UNKNOWN_WINDOW_SKILLS_CHARS if window is None else window * CHARS_PER_TOKEN * SKILLS_PCT // 100


def steps(lines: Mapping[Part, Sequence[str]], names: Sequence[str]) -> Iterator[Step]:
    """Yield what can be given up, in the order of giving; `names` are the playbook lines undescribed."""
    remaining = {part for part in ORDER if lines[part]}
    for part in (Part.HITS, Part.PRIOR_SESSIONS):
        for line in reversed(lines[part][1:]):
            yield Step(part, len(line) + 1)
        for line in lines[part][:1]:
            remaining.discard(part)
            yield Step(part, len(line) + 1 + _frame_chars(part, remaining))
    for line, name in zip(reversed(lines[Part.AVAILABLE_SKILLS]), reversed(names), strict=True):
        if line != name:
            yield Step(Part.AVAILABLE_SKILLS, len(line) - len(name))


def _frame_chars(part: Part, remaining: set[Part]) -> int:
    """Return what goes with the last entry of a part; the last line of a text has no line feed."""
    envelope = 0 if remaining & set(INSIDE) else ENVELOPE.chars
    return FRAMES[part].chars + envelope - (0 if remaining else 1)


def needed(used: int, ceiling: int | None, possible: Iterable[Step]) -> list[Step]:
    """Take steps until the text fits, measuring after each; all of them where it never does."""
    taken: list[Step] = []
    if ceiling is None:
        return taken
    for step in possible:
        if used <= ceiling:
            break
        taken.append(step)
        used -= step.chars
    return taken


def overflow(taken: Sequence[Step]) -> list[Shed]:
    """Sum up by part what was given up."""
    given = {part: [step.chars for step in taken if step.label is part] for part in SHED_ORDER}
    return [Shed(part, len(chars), sum(chars)) for part, chars in given.items() if chars]
