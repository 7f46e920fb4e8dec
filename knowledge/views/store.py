"""The pages that search, browse, export and add to the store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from knowledge import addresses, queries, services, shelf
from knowledge import export as exports
from knowledge.errors import Invalid, NotFound
from knowledge.expiry import expiry_from
from knowledge.forms import NoteForm, checked, filter_form
from knowledge.ids import is_id
from knowledge.types import MAX_PAGE, Chunk, ChunkQuery, Hit, Outcome
from knowledge.views.answers import answers_errors
from knowledge.views.parts import page_or_part, targets
from protoconsole.access.permissions import operator_required, viewer_required
from protoconsole.access.requests import KnownRequest
from protoconsole.toasts import toast


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A hit with its addresses: its own page, and the pane beside the list."""

    hit: Hit
    key: str
    url: str
    pane: str
    current: bool


Writer = Callable[[Iterable[Chunk]], Iterator[str]]
FORMS: dict[str, tuple[Writer, str]] = {
    "jsonl": (exports.as_json_lines, "application/x-ndjson; charset=utf-8"),
    "csv": (exports.as_csv, "text/csv; charset=utf-8"),
}


@require_safe
@viewer_required
@answers_errors
def browse(request: KnownRequest) -> HttpResponse:
    """List what matches the filters of the address, with the chosen row beside it."""
    query = query_from(request.GET)
    chosen = _chosen(request)
    if targets(request, "detail") or targets(request, "chosen"):
        context = {**_common(request), "chosen": chosen}
        return page_or_part(request, "knowledge/store.html", "knowledge/_store_detail.html", context)
    found = shelf.read(query, request.actor, cursor=request.GET.get("cursor"))
    context = {**_common(request), **_listing(request.GET, found), "chosen": chosen, "query": query}
    if not found.hits:
        context["store_is_empty"] = shelf.is_empty()
    return page_or_part(request, "knowledge/store.html", "knowledge/_store_part.html", context)


@require_safe
@viewer_required
@answers_errors
def export(request: KnownRequest, form: str) -> StreamingHttpResponse:
    """Send all rows that match the filters as a file."""
    if form not in FORMS:
        raise Http404(f"there is no export as {form}")
    write, content_type = FORMS[form]
    query = query_from(request.GET)
    lines = write(exports.matching(query, request.actor))
    scope = f"best-{MAX_PAGE}-" if query.text.strip() else ""
    name = f"memory-{scope}{timezone.now():%Y-%m-%d}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type=content_type, headers=headers)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
@answers_errors
def note(request: KnownRequest) -> HttpResponse:
    """Write a row as an operator, confirmed from the start."""
    form = NoteForm(request.POST) if request.method == "POST" else NoteForm()
    if form.is_bound and form.is_valid():
        chunk = _add(form, request)
        if chunk:
            toast(request, f"Stored as #{chunk.id}, confirmed.")
            return redirect("knowledge:chunk", chunk.id)
    status = 422 if form.is_bound else 200
    return render(request, "knowledge/note.html", {"form": form}, status=status)


def query_from(params: QueryDict) -> ChunkQuery:
    """Read the filters of an address. Raises Invalid naming the first that cannot be."""
    form = filter_form(params)
    checked(form)
    return form.query()


def _add(form: NoteForm, request: KnownRequest) -> Chunk | None:
    try:
        new = form.new_chunk(expiry_from(form.cleaned_data["expires_at"], timezone.now()))
        added = services.add(new, request.actor)
    except Invalid as error:
        form.add_error(error.field if error.field in form.fields else None, error.detail)
        return None
    if added.outcome is Outcome.DROPPED:
        form.add_error("content", added.why)
    return added.chunk


def _chosen(request: KnownRequest) -> Chunk | None:
    """Read the row that the address chooses; one that is gone since leaves the list in peace."""
    sent = request.GET.get("chosen", "")
    if not sent:
        return None
    if not is_id(sent):
        raise Invalid("chosen", f"{sent[:40]!r} is not the id of a chunk")
    try:
        return queries.get(int(sent), request.actor)
    except NotFound:
        return None


def _common(request: KnownRequest) -> dict[str, Any]:
    return {
        "can_change": request.actor.is_operator,
        "chosen_id": request.GET.get("chosen", ""),
        "here": request.get_full_path(),
        "undo_target": "#store",
    }


def _listing(params: QueryDict, found: shelf.Shelf) -> dict[str, Any]:
    filters = addresses.first_page(params)
    return {
        "shelf": found,
        "rows": _rows(params, found.hits),
        "total": found.facets.total if found.among is None else None,
        "groups": addresses.facet_groups(found.facets, params),
        "chips": addresses.chips(params),
        "keep": addresses.carried(params),
        "filters": filters,
        "first_href": filters if params.get("cursor") else "",
        "next_href": addresses.next_page(params, found.next),
        "clear_href": addresses.cleared(params),
        "without_text_href": addresses.without(params, "q"),
        "store_url": reverse("knowledge:store"),
        "jump_url": "",  # the page has a search of its own
    }


def _rows(params: QueryDict, hits: Sequence[Hit]) -> list[ListedRow]:
    pane, chosen = addresses.choosing(params), params.get("chosen")
    return [
        ListedRow(
            hit,
            f"row-{hit.chunk.id}",
            reverse("knowledge:chunk", args=[hit.chunk.id]),
            f"{pane}{hit.chunk.id}",
            chosen == str(hit.chunk.id),
        )
        for hit in hits
    ]
