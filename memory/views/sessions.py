"""The pages of sessions: what the agent is told of each, what was said in it, delete and its way back."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from knowledge import sources
from knowledge.text import clean_query
from knowledge.views.answers import answers_errors, back_or
from knowledge.views.parts import page_or_part
from memory import deleting, session_list
from memory.forms import page_number
from memory.redaction import REDACTED
from memory.types import Absence, DigestPolicy, Summary, ToolCall
from protoconsole.access.permissions import operator_required, viewer_required
from protoconsole.access.requests import KnownRequest
from protoconsole.instance import current
from protoconsole.toasts import toast

MESSAGES_A_PAGE = 50
MOST_CHARS = 10_000  # of one message on a page
KEPT_HOURS = deleting.KEPT_FOR // timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text in pieces, with a credential taken out between each two; `chars` is the length of the whole."""

    pieces: Sequence[str]
    chars: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Said:
    """One message, numbered from 1."""

    number: int
    role: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class Called:
    """One call of a tool."""

    name: str
    args: Passage
    result: Passage
    duration_ms: float


@require_safe
@viewer_required
@answers_errors
def listing(request: KnownRequest) -> HttpResponse:
    """List the sessions newest first, or the best for the words of the address."""
    query = clean_query(request.GET.get("q", "")).strip()
    cursor = request.GET.get("cursor", "")
    if query:
        items, following = session_list.found(query), None
    else:
        page = session_list.browse(cursor=cursor)
        items, following = list(page.items), page.next
    context = {
        "sessions": [(session, _standing(session.absence)) for session in items],
        "query": query,
        "most_found": session_list.MOST_FOUND,
        "first_href": reverse("memory:sessions") if cursor else "",
        "next_href": f"?{urlencode({'cursor': following})}" if following else "",
        "deleted": session_list.deleted(),
        "kept_hours": KEPT_HOURS,
        "policy": _policy_told(),
        "folder": current().paths.memory_dir,
        "can_change": request.actor.is_operator,
        "here": request.get_full_path(),
        "undo_target": "#sessions",
        "jump_url": "",  # the page has a search of its own
    }
    return page_or_part(request, "memory/sessions.html", "memory/_sessions.html", context)


@require_safe
@viewer_required
@answers_errors
def session(request: KnownRequest, session_id: str) -> HttpResponse:
    """Show what was said in a session, as plain text by speaker."""
    opened = session_list.opened(session_id)
    context = {
        "listed": opened.listed,
        "standing": _standing(opened.listed.absence),
        "rows": sources.one(session_id),
        "kept_hours": KEPT_HOURS,
        "can_change": request.actor.is_operator,
    }
    if isinstance(opened.content, Summary):
        context |= _told(opened.content, page_number(request.GET))
    return render(request, "memory/session.html", context)


@require_POST
@operator_required
@answers_errors
def delete(request: KnownRequest, session_id: str) -> HttpResponse:
    """Take away a session's file, its row in the index and its line in the digest."""
    deleting.delete(session_id, request.actor)
    toast(
        request,
        f"The summary of {session_id} was deleted. It can be restored for {KEPT_HOURS} hours.",
        undo_url=reverse("memory:session-restore", args=[session_id]),
    )
    return redirect("memory:sessions")


@require_POST
@operator_required
@answers_errors
def restore(request: KnownRequest, session_id: str) -> HttpResponse:
    """Bring back a deleted summary."""
    deleting.restore(session_id)
    toast(request, f"The summary of {session_id} is back.")
    return redirect(back_or(request, reverse("memory:sessions")))


def _standing(absence: Absence | None) -> str:
    """Say in words whether the next digest names a session, and why not."""
    most = current().config.memory.max_sessions
    return {
        None: "in digest",
        Absence.ACTIVE: "the active session",
        Absence.BEYOND: f"not among the newest {most}",
        Absence.NO_ROOM: "no room in the digest",
        Absence.BACKGROUND: "background worker",
        Absence.UNREADABLE: "unreadable",
        Absence.OFF: "digest is off",
        Absence.WHEN_RELEVANT: "when its words are asked",
    }[absence]


def _policy_told() -> str:
    config = current().config
    if not config.middleware.knowledge:
        return "The agent is told none: middleware.knowledge is false"
    most = config.memory.max_sessions
    return {
        DigestPolicy.NEWEST: f"The agent is told the newest {most}",
        DigestPolicy.RELEVANT: f"The agent is told the {most} that fit its question",
        DigestPolicy.OFF: "The agent is told none: context.prior_sessions is off",
    }[DigestPolicy(config.context.prior_sessions)]


def _told(summary: Summary, page: int) -> dict[str, Any]:
    """Give one page of the messages; what comes after the last message stands on the last page."""
    start = (page - 1) * MESSAGES_A_PAGE
    end = start + MESSAGES_A_PAGE
    messages = enumerate(summary.messages[start:end], start + 1)
    last = summary.messages[-1].content if summary.messages else None
    return {
        "summary": summary,
        "said": [Said(number, said.role, _passage(said.content)) for number, said in messages],
        "earlier_href": f"?page={page - 1}" if page > 1 else "",
        "later_href": f"?page={page + 1}" if end < len(summary.messages) else "",
        "calls": [_called(call) for call in summary.tool_calls],
        "ends_alike": summary.final_output == last,
        "final_output": _passage(summary.final_output),
        "redactions": _redactions(summary),
    }


def _called(call: ToolCall) -> Called:
    args = json.dumps(call.args, ensure_ascii=False, indent=2)
    return Called(call.name, _passage(args), _passage(call.result), call.duration_ms)


def _passage(text: str) -> Passage:
    return Passage(text[:MOST_CHARS].split(REDACTED), len(text), len(text) > MOST_CHARS)


def _redactions(summary: Summary) -> int:
    said = [message.content for message in summary.messages]
    called = [text for call in summary.tool_calls for text in (json.dumps(call.args), call.result)]
    return sum(text.count(REDACTED) for text in (*said, *called))
