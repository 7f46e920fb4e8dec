"""The parts of pages that htmx asks for, and what stands in their place when they cannot be had."""

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from protoconsole.toasts import toast

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails


def is_part(request: HttpRequest) -> bool:
    """Say whether htmx asks for a part of a page; a history restore wants the whole."""
    htmx: HtmxDetails | None = getattr(request, "htmx", None)
    return htmx is not None and bool(htmx) and not htmx.history_restore_request


def toast_alone(request: HttpRequest, text: str, status: int) -> HttpResponse:
    """Refuse a part with a toast that swaps nothing, so that what was there stays."""
    toast(request, text, level=messages.ERROR)
    response = render(request, "components/_toasts.html", {"oob": True}, status=status)
    response.headers["HX-Reswap"] = "none"
    return response
