"""The page of sources: where rows came from, bulk delete and its way back."""

from datetime import timedelta
from urllib.parse import unquote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from knowledge import grace, services
from knowledge import sources as sources_read
from knowledge.text import clean_query
from knowledge.types import Batch
from knowledge.views.answers import answers_errors, back_or
from knowledge.views.changes import rows, undo_url
from knowledge.views.parts import page_or_part
from protoconsole.access.permissions import operator_required, viewer_required
from protoconsole.access.requests import KnownRequest
from protoconsole.toasts import toast

GRACE_HOURS = grace.GRACE // timedelta(hours=1)


@require_safe
@viewer_required
@answers_errors
def listing(request: KnownRequest) -> HttpResponse:
    """List the sources that begin with a prefix, by name."""
    prefix = clean_query(request.GET.get("prefix", ""))
    after = clean_query(request.GET.get("after", ""))
    page = sources_read.listing(prefix=prefix, after=after)
    context = {
        "sources": page.items,
        "prefix": prefix,
        "first_href": f"?{urlencode({'prefix': prefix})}" if after else "",
        "next_href": f"?{urlencode({'prefix': prefix, 'after': page.next})}" if page.next else "",
        "here": request.get_full_path(),
        "undo_target": "#sources",
        "can_change": request.actor.is_operator,
        "grace_hours": GRACE_HOURS,
    }
    return page_or_part(request, "knowledge/sources.html", "knowledge/_sources.html", context)


@require_POST
@operator_required
@answers_errors
def delete(request: KnownRequest) -> HttpResponse:
    """Take every valid row of a source out of use."""
    source = source_in(request)
    batch = services.delete_by_source(source, request.actor)
    return _told(
        request,
        batch,
        f"{rows(batch.count)} of {source} deleted. They can be restored for {GRACE_HOURS} hours.",
    )


@require_POST
@operator_required
@answers_errors
def restore(request: KnownRequest) -> HttpResponse:
    """Bring back what a bulk delete took of a source."""
    source = source_in(request)
    batch = services.restore_by_source(source, request.actor)
    return _told(request, batch, f"{rows(batch.count)} of {source} restored.")


def source_in(request: HttpRequest) -> str:
    """Read the exact name of a source from a form; quoted, since browsers rewrite a carriage return."""
    quoted = request.POST.get("source_quoted")
    return unquote(quoted) if quoted else request.POST.get("source", "")


def _told(request: KnownRequest, batch: Batch, text: str) -> HttpResponse:
    if batch.count:
        toast(request, text, undo_url=undo_url(batch.id))
    else:
        toast(request, "There was nothing to change: somebody was here before.")
    return redirect(back_or(request, reverse("knowledge:sources")))
