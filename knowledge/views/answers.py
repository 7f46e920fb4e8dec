"""How a page answers what goes wrong, mapped here once."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from knowledge.errors import (
    Conflict,
    Forbidden,
    Invalid,
    KnowledgeError,
    NotFound,
    SearchBroken,
    Stale,
)
from protoconsole.access.requests import KnownRequest
from protoconsole.errors import StoreBusy
from protoconsole.parts import is_part, toast_alone

P = ParamSpec("P")
View = Callable[Concatenate[KnownRequest, P], HttpResponseBase]

STATUSES: dict[type[Exception], int] = {
    NotFound: 404,
    Forbidden: 403,
    Conflict: 409,
    Stale: 409,
    Invalid: 422,
    SearchBroken: 503,
    StoreBusy: 503,
}


def answers_errors(view: View[P]) -> View[P]:
    """Turn an error of memory into its status and a sentence: a page, or a notice in a part of one."""

    @wraps(view)
    def answering(request: KnownRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except (KnowledgeError, StoreBusy) as error:
            return failed(request, error)

    return answering


def failed(request: KnownRequest, error: KnowledgeError | StoreBusy) -> HttpResponse:
    """Answer one error: a page, or a toast to a part of one."""
    status = next(status for kind, status in STATUSES.items() if isinstance(error, kind))
    if is_part(request):
        response = toast_alone(request, str(error), status)
    else:
        response = render(
            request, "knowledge/failed.html", {"detail": str(error), "status": status}, status=status
        )
    if status == 503:
        response.headers["Retry-After"] = "1"
    return response


def back_or(request: KnownRequest, fallback: str) -> str:
    """Give the page that a form was sent from (`back`, or what htmx says), if it is one of ours."""
    back = request.POST.get("back") or request.htmx.current_url_abs_path or ""
    return back if _is_ours(request, back) else fallback


def came_from(request: KnownRequest, fallback: str) -> str:
    """Give the page that a form was sent from as the browser tells it, for forms that stand on any page."""
    root = request.build_absolute_uri("/")
    referer = request.headers.get("Referer", "")
    path = f"/{referer.removeprefix(root)}" if referer.startswith(root) else ""
    return path if _is_ours(request, path) else fallback


def _is_ours(request: KnownRequest, address: str) -> bool:
    allowed = url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return allowed and address.startswith("/")
