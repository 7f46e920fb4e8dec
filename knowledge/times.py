"""Moments as the stores keep them: ISO 8601 text in UTC with offset. A naive moment is UTC."""

from datetime import UTC, datetime, timedelta


def to_iso(moment: datetime) -> str:
    """Write a moment the way every column keeps it."""
    return _in_utc(moment).isoformat()


def parse_iso(text: str | None) -> datetime | None:
    """Read what any build has written (`Z`, a blank for `T`, a date alone); None when it is no moment."""
    try:
        return _in_utc(datetime.fromisoformat((text or "").strip().upper()))
    except (ValueError, OverflowError):
        return None


def in_days(now: datetime, days: int) -> datetime:
    return _in_utc(now) + timedelta(days=days)


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
