"""Taking a change back."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.views.decorators.http import require_POST

from knowledge import services
from knowledge.views.answers import answers_errors, back_or, came_from
from protoconsole.access.permissions import operator_required
from protoconsole.access.requests import KnownRequest
from protoconsole.toasts import toast


@require_POST
@operator_required
@answers_errors
def undo(request: KnownRequest, batch: str) -> HttpResponse:
    """Restore what the rows of a change were before it."""
    undone = services.undo(batch, request.actor)
    left = f" {rows(len(undone.skipped)).capitalize()} changed since and stayed." if undone.skipped else ""
    toast(request, f"Undone: {undone.count:,} change{pluralize(undone.count)} taken back.{left}")
    return redirect(back_or(request, came_from(request, reverse("knowledge:review"))))


def undo_url(batch: str) -> str:
    """Give the address that takes back a change."""
    return reverse("knowledge:undo", args=[batch])


def rows(count: int) -> str:
    """Say how many rows a change took."""
    return "1 row" if count == 1 else f"{count:,} rows"
