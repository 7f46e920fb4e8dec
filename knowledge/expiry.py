"""Reads what people write into a field for an expiry: a number of days, or a moment."""

from datetime import datetime

from knowledge.errors import Invalid
from knowledge.times import in_days, to_iso

MAX_DAYS = 3650
_LONGEST_NUMBER = 4  # longer ones are dates without dashes


def expiry_from(text: str, now: datetime) -> str | None:
    """Give the moment that a text names, None for a blank one; what is no number is passed on as it is.

    Raises Invalid for a number of days outside 1 to 3650.
    """
    text = text.strip()
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER):
        return text or None
    days = int(text)
    if not 1 <= days <= MAX_DAYS:
        raise Invalid("expires_at", f"{days} days are out of range; send 1 to {MAX_DAYS}, or a time")
    return to_iso(in_days(now, days))
