"""How long a bulk delete can be taken back."""

from datetime import datetime, timedelta

from django.utils import timezone

from knowledge import markers
from knowledge.times import parse_iso

GRACE = timedelta(hours=24)


def first_opened() -> datetime:
    """Tell when this console first opened the store; a deletion of before is not older than that."""
    return parse_iso(markers.get(markers.FIRST_OPENED) or "") or timezone.now()


def ends(deleted_at: str | None) -> datetime:
    """Tell from when on a sweep may remove a row that was deleted at a moment."""
    opened = first_opened()
    return max(parse_iso(deleted_at) or opened, opened) + GRACE
