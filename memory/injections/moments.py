"""Moments as whole microseconds since 1970, which sort and take little room."""

from datetime import UTC, datetime, timedelta

from knowledge.times import parse_iso, to_iso

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 24 * 3600 * 1_000_000


def micros(moment: datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def micros_of_text(text: str) -> int:
    """Read a stored time; one that cannot be read sorts before all others."""
    moment = parse_iso(text)
    return micros(moment) if moment else 0


def iso_of(at: int) -> str:
    return to_iso(_EPOCH + timedelta(microseconds=at))


def day_of(at: int) -> int:
    """Count the days since 1970."""
    return at // _DAY
