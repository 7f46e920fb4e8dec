"""The pages of the injection log: the turns, and one of them as its model saw it."""

from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from knowledge.views.answers import answers_errors
from memory import evidence, turn_list
from memory.charts import budget_bar
from memory.injections import queries as log
from memory.injections.errors import TextDamaged
from protoconsole.access.permissions import viewer_required
from protoconsole.access.requests import KnownRequest

LABELS = {"session_id": "Session", "chunk_id": "Row", "since": "Since", "until": "Until"}


@require_safe
@viewer_required
@answers_errors
def listing(request: KnownRequest) -> HttpResponse:
    """List the turns that match the filters of the address, newest first."""
    query = turn_list.query_from(request.GET.dict())
    turns = turn_list.read(query, cursor=request.GET.get("cursor"))
    return render(request, "memory/injections.html", {"turns": turns, **_addresses(request.GET, turns.next)})


@require_safe
@viewer_required
@answers_errors
def turn(request: KnownRequest, injection_id: int) -> HttpResponse:
    """Show a turn as its model saw it, and what became of its rows."""
    replay = evidence.replay(injection_id, request.actor)
    kept = replay.turn.kept
    bar = budget_bar(kept.budget, kept.sections) if kept else None
    return render(request, "memory/turn.html", {"replay": replay, "turn": replay.turn, "bar": bar})


@require_safe
@viewer_required
@answers_errors
def text(request: KnownRequest, injection_id: int) -> HttpResponse:
    """Send the text of a turn byte for byte; what cannot be proven to be it is not sent."""
    try:
        sent = log.text_of(injection_id)
    except TextDamaged as error:
        return HttpResponse(f"{error}\n", status=410, content_type="text/plain; charset=utf-8")
    return HttpResponse(sent.encode(), content_type="text/plain; charset=utf-8")


def _addresses(params: QueryDict, cursor: str | None) -> dict[str, Any]:
    filters = {name: params.get(name, "") for name in turn_list.FILTERS if params.get(name)}
    return {
        "filters": filters,
        "chips": [(LABELS[name], value, _query(filters, without=name)) for name, value in filters.items()],
        "clear_href": reverse("memory:injections"),
        "first_href": _query(filters) if params.get("cursor") else "",
        "next_href": _query(filters | {"cursor": cursor}) if cursor else "",
    }


def _query(filters: dict[str, str], without: str = "") -> str:
    params = QueryDict(mutable=True)
    params.update({name: value for name, value in filters.items() if name != without})
    return f"?{params.urlencode()}"
