"""The list of turns as a page shows it: filters from the address, rows with their counts, and the chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time

from knowledge.errors import Invalid
from knowledge.text import clean_query
from knowledge.times import parse_iso
from knowledge.types import TrustTier
from memory.charts import TurnPoint, TurnsChart, share, turns_chart
from memory.injections import queries as log
from memory.injections.types import Turn, TurnQuery
from memory.types import Ref

COMMONS = "commons:"
MOST_ID_DIGITS = 18
FILTERS = ("session_id", "chunk_id", "since", "until")


@dataclass(frozen=True, slots=True)
class Tally:
    """Delivered rows of one tier."""

    tier: str
    count: int


@dataclass(frozen=True, slots=True)
class Listed:
    """A turn with what its row in the list counts; `used` is in per cent of the ceiling, None without one."""

    turn: Turn
    tiers: Sequence[Tally]
    used: int | None


@dataclass(frozen=True, slots=True)
class TurnList:
    rows: Sequence[Listed]
    next: str | None
    chart: TurnsChart


def read(query: TurnQuery, *, cursor: str | None) -> TurnList:
    """Read a page of turns, newest first. Raises Invalid for a cursor that no list gave."""
    page = log.turns(query, cursor=cursor)
    points = [_point(turn) for turn in reversed(page.items)]
    return TurnList([_listed(turn) for turn in page.items], page.next, turns_chart(points))


def query_from(params: Mapping[str, str]) -> TurnQuery:
    """Read the filters of an address; a day as `until` means its end. Raises Invalid naming the field."""
    sent = {name: clean_query(params.get(name, "")).strip() for name in FILTERS}
    return TurnQuery(
        session_id=sent["session_id"] or None,
        ref=_ref("chunk_id", sent["chunk_id"]) if sent["chunk_id"] else None,
        since=_moment("since", sent["since"]) if sent["since"] else None,
        until=_moment("until", sent["until"], ends=True) if sent["until"] else None,
    )


def _ref(field: str, text: str) -> Ref:
    number = text.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) <= MOST_ID_DIGITS:
        return int(number)
    if text.startswith(COMMONS):
        return text
    raise Invalid(field, f"{text[:40]!r} is not the id of a row")


def _moment(field: str, text: str, *, ends: bool = False) -> datetime:
    moment = parse_iso(text)
    if moment is None:
        raise Invalid(field, f"{text[:40]!r} is no time; write it as 2026-03-01 or 2026-03-01T12:00")
    whole_day = ends and len(text) == len("2026-03-01")
    return datetime.combine(moment, time.max, moment.tzinfo) if whole_day else moment


def _point(turn: Turn) -> TurnPoint:
    untold = len(turn.hot_ids) + len(turn.rag_ids) if turn.legacy else 0
    return TurnPoint(turn.approx_tokens, _tiers(turn), untold)


def _listed(turn: Turn) -> Listed:
    budget = turn.kept.budget if turn.kept else None
    tallies = [Tally(tier.label, turn_tiers) for tier, turn_tiers in _tiers(turn).items() if turn_tiers]
    return Listed(turn, tallies[::-1], share(budget.used_chars, budget.ceiling_chars) if budget else None)


def _tiers(turn: Turn) -> Mapping[TrustTier, int]:
    return turn.kept.tiers if turn.kept else {}
