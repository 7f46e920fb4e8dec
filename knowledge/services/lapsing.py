"""When a new row lapses, from either of the two ways to say it."""

from django.utils import timezone

from knowledge.errors import Invalid
from knowledge.times import in_days, to_iso


def expiry(expires_at: str | None, expires_in_days: int | None) -> str | None:
    """Give the moment as ISO 8601 text, None for never. Raises Invalid where both ways are used."""
    if expires_in_days is None:
        return expires_at
    if expires_at is not None:
        raise Invalid("expires_in_days", "cannot stand beside expires_at; send one of them")
    return to_iso(in_days(timezone.now(), expires_in_days))
