"""The page of what every prompt is given, and the changes of it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from knowledge import queries
from knowledge.expiry import expiry_from
from knowledge.forms import EXPIRY_HELP, checked
from knowledge.types import Chunk, Edit
from knowledge.views.answers import answers_errors, back_or
from knowledge.views.changes import undo_url
from knowledge.views.parts import page_or_part
from memory import hot, hot_board
from memory.forms import ExpiryForm, VersionForm
from memory.projection import MOST_ALWAYS_ON_CHARS, MOST_ALWAYS_ON_ROWS
from protoconsole.access.permissions import operator_required, viewer_required
from protoconsole.access.requests import KnownRequest
from protoconsole.toasts import toast


@require_safe
@viewer_required
@answers_errors
def listing(request: KnownRequest) -> HttpResponse:
    """List the always-on rows in the order of delivery."""
    cursor = request.GET.get("cursor")
    board = hot_board.read(request.actor, cursor=cursor)
    context = {
        "board": board,
        "most_rows": MOST_ALWAYS_ON_ROWS,
        "most_chars": MOST_ALWAYS_ON_CHARS,
        "expiry_help": EXPIRY_HELP,
        "first_href": reverse("memory:hot") if cursor else "",
        "next_href": f"?{urlencode({'cursor': board.next})}" if board.next else "",
        "can_change": request.actor.is_operator,
        "here": request.get_full_path(),
        "undo_target": "#hot",
    }
    return page_or_part(request, "memory/hot.html", "memory/_hot_part.html", context)


@require_POST
@operator_required
@answers_errors
def unpin(request: KnownRequest, chunk_id: int) -> HttpResponse:
    """Let a row enter only where a turn asks for it."""
    sent = checked(VersionForm(request.POST))
    hot.unpin(chunk_id, request.actor, if_match=sent["version"])
    _tell(request, chunk_id, f"#{chunk_id} is no longer always-on: it is delivered when a search matches.")
    return _back(request)


@require_POST
@operator_required
@answers_errors
def expiry(request: KnownRequest, chunk_id: int) -> HttpResponse:
    """Set when a row stops being delivered, or that it never does."""
    sent = checked(ExpiryForm(request.POST))
    moment = None if sent["clear_expiry"] else expiry_from(sent["expires_at"], timezone.now())
    row = hot.edit(chunk_id, Edit(expires_at=moment), request.actor, if_match=sent["version"])
    if row.chunk.version == sent["version"]:
        toast(request, f"Nothing to change: #{chunk_id} is like that already.", level=messages.INFO)
    else:
        _tell(request, chunk_id, f"#{chunk_id} now: {_expiry_told(row.chunk)}.")
    return _back(request)


@require_POST
@operator_required
@answers_errors
def delete(request: KnownRequest, chunk_id: int) -> HttpResponse:
    """Delete an always-on row for good."""
    sent = checked(VersionForm(request.POST))
    hot.delete(chunk_id, request.actor, if_match=sent["version"])
    toast(request, f"#{chunk_id} was deleted for good.")
    return _back(request)


def _expiry_told(chunk: Chunk) -> str:
    if not chunk.expires_at:
        return "no expiry"
    return f"expires {chunk.expires_at[:16].replace('T', ' ')} UTC"


def _tell(request: KnownRequest, chunk_id: int, text: str) -> None:
    last = queries.trail(chunk_id, request.actor, limit=1).items[0]
    toast(request, text, undo_url=undo_url(last.batch))


def _back(request: KnownRequest) -> HttpResponse:
    return redirect(back_or(request, reverse("memory:hot")))
