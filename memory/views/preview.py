"""The page that shows the next prompt before it is asked for."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from knowledge.views.answers import answers_errors
from memory import previewing, session_index
from memory.preview_form import PreviewForm
from protoconsole.access.permissions import viewer_required
from protoconsole.access.requests import KnownRequest

SESSIONS_OFFERED = 30


@require_safe
@viewer_required
@answers_errors
def preview(request: KnownRequest) -> HttpResponse:
    """Show what the turn of the address would be told; nothing of it is recorded."""
    form = PreviewForm(request.GET)
    session_index.sync()
    context = {"form": form, "sessions": session_index.newest(SESSIONS_OFFERED)}
    if not form.is_valid():
        return render(request, "memory/preview.html", context, status=422)
    turn = previewing.with_last_query(form.request())
    supposed = form.ruling()
    shown = previewing.read(turn, request.actor, supposed)
    context |= {"preview": shown, "asked": turn, "supposed": supposed}
    return render(request, "memory/preview.html", context)
