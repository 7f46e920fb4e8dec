"""How often somebody may fail to sign in: a few times from one address, more often for a name from many."""

from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt
from django.db.models import Sum
from django.http import HttpRequest

# Higher than the limit of one address, since whoever knows a name can reach it and lock its owner out.
FAILURES_OF_A_NAME = 50


class Throttle(AxesDatabaseHandler):  # type: ignore[misc]
    """Lock a name at an address as django-axes does, and a name that is guessed at from many addresses."""

    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        name = get_client_username(request, credentials)
        return (
            bool(super().is_locked(request, credentials)) or _failures_of(name, request) >= FAILURES_OF_A_NAME
        )


def _failures_of(name: str | None, request: HttpRequest) -> int:
    """Count how often a name was tried in vain within the time that a lock lasts."""
    if not name:
        return 0
    recent = AccessAttempt.objects.filter(username=name, attempt_time__gte=get_cool_off_threshold(request))
    return recent.aggregate(n=Sum("failures_since_start"))["n"] or 0
