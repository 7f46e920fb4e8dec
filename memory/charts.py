"""Charts as shapes with coordinates, which templates draw as SVG. No Django, no clock, no file.

Each chart is drawn in its own units and stretched to the width of its place, so it holds no words; what it
shows is told beside it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from knowledge.types import TrustTier
from memory.types import Budget, Part, Section

HEIGHT = 100.0
BAR_WIDTH = 8.0
SLOT_WIDTH = 10.0
FEWEST_SLOTS = 25  # few turns make narrow bars at the left rather than wide ones
BUDGET_WIDTH = 1000.0
FRAME = "frame"
SHED = "shed"
UNTOLD = "untold"


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle; `tone` names its colour."""

    x: float
    y: float
    width: float
    height: float
    tone: str


@dataclass(frozen=True, slots=True)
class TurnPoint:
    """What the chart of turns shows of one turn; `untold` counts rows whose trust nobody recorded."""

    tokens: int
    tiers: Mapping[TrustTier, int]
    untold: int = 0

    @property
    def rows(self) -> int:
        return sum(self.tiers.values()) + self.untold


@dataclass(frozen=True, slots=True)
class TurnsChart:
    """Tokens and delivered rows by tier of each turn, oldest left; `told` says the same in words."""

    width: float
    tokens: Sequence[Bar]
    rows: Sequence[Bar]
    most_tokens: int
    most_rows: int
    told: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a budget bar: so many characters of `tone`, which is a part, the frame, or what was shed."""

    x: float
    width: float
    tone: str
    chars: int
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class BudgetBar:
    """What a text is made of, against its ceiling; `ceiling_x` is None where there is none."""

    segments: Sequence[Segment]
    ceiling_x: float | None
    told: str


def turns_chart(turns: Sequence[TurnPoint]) -> TurnsChart:
    """Draw turns that are given oldest first."""
    most_tokens = max((turn.tokens for turn in turns), default=0)
    most_rows = max((turn.rows for turn in turns), default=0)
    return TurnsChart(
        width=max(len(turns), FEWEST_SLOTS) * SLOT_WIDTH,
        tokens=[_bar(n, turn.tokens, 0, most_tokens, "tokens") for n, turn in enumerate(turns)],
        rows=[bar for n, turn in enumerate(turns) for bar in _stack(n, turn, most_rows)],
        most_tokens=most_tokens,
        most_rows=most_rows,
        told=_turns_told(turns),
    )


def budget_bar(budget: Budget, sections: Sequence[Section]) -> BudgetBar:
    """Draw the parts of a text one beside the other, then what was shed, and where the ceiling is."""
    shed = sum(item.dropped_chars for item in budget.overflow)
    frame = max(budget.used_chars - sum(section.chars for section in sections), 0)
    pieces = [
        *((str(section.label), section.label, section.chars) for section in sections),
        (FRAME, None, frame),
        (SHED, None, shed),
    ]
    ceiling = budget.ceiling_chars
    unit = BUDGET_WIDTH / max(ceiling or 0, budget.used_chars + shed, 1)
    at = None if ceiling is None else round(ceiling * unit, 2)
    return BudgetBar(list(_segments(pieces, unit)), at, _budget_told(budget, shed))


def share(used: int, whole: int | None) -> int | None:
    """Return used of whole in per cent, at most 100; None where there is no whole."""
    return None if not whole else min(100, round(100 * used / whole))


def _bar(slot: int, value: int, below: int, most: int, tone: str) -> Bar:
    height = HEIGHT * value / (most or 1)
    top = HEIGHT - height - HEIGHT * below / (most or 1)
    return Bar(slot * SLOT_WIDTH, round(top, 2), BAR_WIDTH, round(height, 2), tone)


def _stack(slot: int, turn: TurnPoint, most: int) -> Iterator[Bar]:
    """Put the most trusted at the bottom."""
    below = 0
    counts = [(tier.label, turn.tiers.get(tier, 0)) for tier in reversed(TrustTier)]
    for tone, count in (*counts, (UNTOLD, turn.untold)):
        if count:
            yield _bar(slot, count, below, most, tone)
            below += count


def _segments(pieces: Sequence[tuple[str, Part | None, int]], unit: float) -> Iterator[Segment]:
    start = 0
    for tone, part, chars in pieces:
        if chars:
            yield Segment(round(start * unit, 2), round(chars * unit, 2), tone, chars, part)
            start += chars


def _turns_told(turns: Sequence[TurnPoint]) -> str:
    if not turns:
        return "No turns."
    tokens = [turn.tokens for turn in turns]
    rows = ", ".join(
        f"{sum(turn.tiers.get(tier, 0) for turn in turns):,} {tier.label}" for tier in reversed(TrustTier)
    )
    untold = sum(turn.untold for turn in turns)
    unknown = f", {untold:,} of unknown trust" if untold else ""
    return (
        f"{len(turns)} turn{'' if len(turns) == 1 else 's'} of {min(tokens):,} to {max(tokens):,} tokens,"
        f" median {round(median(tokens)):,}; rows delivered by trust: {rows}{unknown}."
    )


def _budget_told(budget: Budget, shed: int) -> str:
    ceiling = "no ceiling" if budget.ceiling_chars is None else f"{budget.ceiling_chars:,} possible"
    gone = f"; {shed:,} were shed" if shed else ""
    return f"{budget.used_chars:,} characters, {ceiling}{gone}."
