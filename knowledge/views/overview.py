"""The first page: what waits, what is known, what changed."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge import summary
from knowledge.views.answers import answers_errors
from protoconsole.access.permissions import viewer_required
from protoconsole.access.requests import KnownRequest


@require_safe
@viewer_required
@answers_errors
def overview(request: KnownRequest) -> HttpResponse:
    """Show the whole store at a glance."""
    context = {"summary": summary.read(), "may_rule": request.actor.is_operator}
    return render(request, "knowledge/overview.html", context)
