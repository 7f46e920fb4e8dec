"""The page on which operators rule on what agents wrote."""

from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from knowledge import addresses, cards, services, waiting
from knowledge.addresses import Chip
from knowledge.beside import Place, asides, sifted
from knowledge.cards import Card
from knowledge.errors import Conflict, NotFound, Stale
from knowledge.forms import BulkVerdictForm, EditForm, QueueForm, VerdictForm, checked
from knowledge.types import Batch, Chunk, ChunkQuery, Verdict
from knowledge.views.answers import answers_errors, back_or, failed
from knowledge.views.changes import rows, undo_url
from knowledge.views.parts import page_or_part, targets
from knowledge.waiting import Queue
from protoconsole.access.permissions import operator_required, viewer_required
from protoconsole.access.requests import KnownRequest
from protoconsole.parts import is_part
from protoconsole.toasts import toast

FACETS = ("kind", "trust", "source", "namespace")
DONE = {
    Verdict.CONFIRMED: "Confirmed",
    Verdict.REJECTED: "Rejected",
    Verdict.PENDING: "Back in the queue:",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address of the queue asks for."""

    params: QueryDict  # filters, order and page: what stays while rows come and go
    query: ChunkQuery
    newest_first: bool
    cursor: str | None
    chosen: int | None
    editing: bool = False

    def address(self, chosen: int | None = None, **more: str) -> str:
        changed = self.params.copy()
        for name, value in {**({"chosen": str(chosen)} if chosen else {}), **more}.items():
            changed[name] = value
        return reverse("knowledge:review") + (f"?{changed.urlencode()}" if changed else "")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the list with its addresses."""

    chunk: Chunk
    href: str
    verdict_url: str
    current: bool

    @property
    def element_id(self) -> str:
        return f"waiting-{self.chunk.id}"


@require_safe
@viewer_required
@answers_errors
def queue(request: KnownRequest) -> HttpResponse:
    """Show what waits for a verdict, and the chosen row with enough to decide."""
    return answer(request, asked_of(request.GET))


@require_POST
@operator_required
@answers_errors
def verdict(request: KnownRequest, chunk_id: int) -> HttpResponse:
    """Rule on one row as it was shown, and go on to the next."""
    sent = checked(VerdictForm(request.POST))
    asked = asked_of(request.GET)
    ruled = Verdict(sent["verdict"])
    try:
        services.review(
            chunk_id, ruled, request.actor, reason=sent["reason"] or None, if_match=sent["version"]
        )
    except Stale as error:
        if is_elsewhere(request):
            return failed(request, error)
        return answer(request, replace(asked, chosen=chunk_id), overtaken=True, status=409)
    _tell(request, chunk_id, ruled)
    return go_on(request, replace(asked, chosen=_after(request, asked, chunk_id)))


@require_POST
@operator_required
@answers_errors
def verdicts(request: KnownRequest) -> HttpResponse:
    """Rule on the ticked rows, or on all that match, as they were counted."""
    form = BulkVerdictForm(request.POST)
    sent = checked(form)
    asked = asked_of(QueryDict(sent["query"].removeprefix("?")))
    ruled = Verdict(sent["verdict"])
    selection = form.selection(waiting.matching(asked.query))
    try:
        batch = services.review_matching(selection, ruled, request.actor)
    except Conflict as conflict:
        return answer(request, asked, problem=f"Nothing was done: {conflict}.", status=409)
    _tell_of_many(request, batch, ruled, selection.count)
    return go_on(request, asked)


def asked_of(params: QueryDict) -> Asked:
    """Read the address of the queue. Raises Invalid naming the first field that cannot be."""
    form = QueueForm(params)
    sent = checked(form)
    query = form.query()
    if sent["read"]:
        query = replace(query, ids=sifted(sent["read"]))
    kept = params.copy()
    for name in ("chosen", "edit"):
        kept.pop(name, None)
    return Asked(kept, query, sent["order"] == "newest", sent["cursor"] or None, sent["chosen"], sent["edit"])


def is_elsewhere(request: KnownRequest) -> bool:
    """Say whether a part of another page rules, to which the answer leads back."""
    return is_part(request) and not targets(request, "review")


def go_on(request: KnownRequest, asked: Asked) -> HttpResponse:
    """Show the queue after a verdict; without a script, by an address that can be loaded again."""
    if is_part(request) and not is_elsewhere(request):
        return answer(request, asked)
    return redirect(back_or(request, asked.address(asked.chosen)))


def answer(request: KnownRequest, asked: Asked, *, status: int = 200, **told: object) -> HttpResponse:
    """Render the queue, or of it the card alone where that is asked for.

    `told` is what went wrong: `overtaken`, with the row on the card, or `problem`, a sentence on the list.
    """
    if targets(request, "detail") and asked.chosen:
        context = _card_context(request, asked, cards.read(asked.chosen, request.actor))
        response = page_or_part(request, "knowledge/review.html", "knowledge/_review_card.html", context)
        response.headers["HX-Reswap"] = "innerHTML scroll:top"
        return response
    listed = waiting.read(asked.query, request.actor, cursor=asked.cursor, newest_first=asked.newest_first)
    card = _card(request, asked, listed)
    context = _queue_context(request, asked, listed, card) | _card_context(request, asked, card, listed)
    context |= {"undo_target": "#review", **told}
    response = page_or_part(
        request, "knowledge/review.html", "knowledge/_review_part.html", context, status=status
    )
    if is_part(request):
        response.headers["HX-Replace-Url"] = context["here"]
    return response


def _card(request: KnownRequest, asked: Asked, listed: Queue) -> Card | None:
    """Read the chosen row, else the first; one that is gone since leaves the queue in peace."""
    first = listed.rows[0].id if listed.rows else None
    for chunk_id in (asked.chosen, first):
        if chunk_id:
            try:
                return cards.read(chunk_id, request.actor)
            except NotFound:
                continue
    return None


def _queue_context(request: KnownRequest, asked: Asked, listed: Queue, card: Card | None) -> dict[str, Any]:
    params = asked.params
    return {
        "queue": listed,
        "rows": [_row(chunk, asked, card) for chunk in _with_chosen(listed, asked, card)],
        "groups": addresses.facet_groups(listed.facets, params, FACETS),
        "chips": [*addresses.chips(params), *_read_chips(params)],
        "carried": [*addresses.carried(params), *_kept(params, "read", "order")],
        "read_href": "" if params.get("read") else addresses.toggled(params, "read", "external"),
        "text": asked.query.text,
        "clear_text": addresses.without(params, "q"),
        "filter": addresses.first_page(params),
        "newest_first": asked.newest_first,
        "other_order": _reordered(params, asked.newest_first),
        "first_page": addresses.first_page(params) if listed.cursor else "",
        "next_page": addresses.next_page(params, listed.next),
    }


def _card_context(
    request: KnownRequest, asked: Asked, card: Card | None, listed: Queue | None = None
) -> dict[str, Any]:
    context: dict[str, Any] = {"card": card, "may_rule": request.actor.is_operator, "here": asked.address()}
    if card is None:
        return context
    chunk = card.chunk
    following = listed.following(chunk.id) if listed else None
    following = following or _after(request, asked, chunk.id)
    here = asked.address(chunk.id)
    if asked.editing:
        context["form"] = _edit_form(chunk)
    return context | {
        "here": here,
        "asides": asides(Place.CARD, chunk, request.actor),
        "back": asked.address(following),
        "verdict_url": _verdict_url(chunk, asked),
        "edit_url": asked.address(chunk.id, edit="1"),
        "skip_url": asked.address(following) if following else "",
    }


def _edit_form(chunk: Chunk) -> EditForm:
    form = EditForm.of(chunk)
    form.fields["content"].widget.attrs["autofocus"] = True
    return form


def _after(request: KnownRequest, asked: Asked, chunk_id: int) -> int | None:
    return waiting.after(chunk_id, asked.query, request.actor, newest_first=asked.newest_first)


def _row(chunk: Chunk, asked: Asked, card: Card | None) -> Row:
    current = card is not None and card.chunk.id == chunk.id
    return Row(chunk, asked.address(chunk.id), _verdict_url(chunk, asked), current)


def _with_chosen(listed: Queue, asked: Asked, card: Card | None) -> list[Chunk]:
    """Keep the chosen row in its place although it waits no longer, so that no verdict slips to another."""
    rows = {chunk.id: chunk for chunk in listed.rows}
    if card:
        rows[card.chunk.id] = card.chunk
    return [rows[chunk_id] for chunk_id in sorted(rows, reverse=asked.newest_first)]


def _verdict_url(chunk: Chunk, asked: Asked) -> str:
    address = reverse("knowledge:verdict", args=[chunk.id])
    return f"{address}?{asked.params.urlencode()}" if asked.params else address


def _kept(params: QueryDict, *names: str) -> list[tuple[str, str]]:
    return [(name, value) for name in names for value in params.getlist(name)]


def _read_chips(params: QueryDict) -> list[Chip]:
    without = addresses.without(params, "read")
    return [Chip("Had read", value, without) for value in params.getlist("read") if value]


def _reordered(params: QueryDict, newest_first: bool) -> str:
    changed = params.copy()
    changed.pop("order", None)
    if not newest_first:
        changed["order"] = "newest"
    return addresses.first_page(changed)


def _tell(request: KnownRequest, chunk_id: int, ruled: Verdict) -> None:
    """Say what was done, with the way back where anything was."""
    change = cards.last_change(chunk_id, request.actor)
    batch = change.batch if change and change.action == ruled and not change.undone else ""
    toast(request, f"{DONE[ruled]} #{chunk_id}.", undo_url=undo_url(batch) if batch else "")


def _tell_of_many(request: KnownRequest, batch: Batch, ruled: Verdict, count: int) -> None:
    toast(request, f"{DONE[ruled]} {rows(count)}.", undo_url=undo_url(batch.id) if batch.count else "")
