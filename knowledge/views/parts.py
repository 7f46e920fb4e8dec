"""Pages, and the parts of them that htmx asks for."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers

from protoconsole.access.requests import KnownRequest
from protoconsole.parts import is_part


def targets(request: KnownRequest, element_id: str) -> bool:
    """Say whether htmx asks for what goes into one element of the page."""
    return is_part(request) and (request.htmx.target or "").partition("#")[2] == element_id


def page_or_part(
    request: KnownRequest, page: str, part: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """Answer with the whole page, or with its part and the toasts that wait."""
    if is_part(request):
        response = render(request, part, context, status=status)
        toasts = {"oob": True, "undo_target": context.get("undo_target")}
        response.write(render_to_string("components/_toasts.html", toasts, request))
    else:
        response = render(request, page, context, status=status)
    patch_vary_headers(response, ["HX-Request", "HX-Target", "HX-History-Restore-Request"])
    return response
