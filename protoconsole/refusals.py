"""The answer to a request that is refused before any page has seen it."""

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from protoconsole.parts import is_part, toast_alone

WRONG_HOST = (
    "This server does not answer to the host name of this address. "
    "Add the name to PROTOCONSOLE_HOSTS and start the server again."
)
NOT_FRESH = "This form is no longer fresh. Nothing was changed: load the page again and send it once more."
MALFORMED = "The request could not be understood."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say in one sentence what is wrong with the request: JSON to programs, a page to people."""
    detail = WRONG_HOST if isinstance(exception, DisallowedHost) else MALFORMED
    if request.path_info.startswith("/api/"):
        return JsonResponse({"code": "bad_request", "detail": detail}, status=400)
    return render(request, "400.html", {"detail": detail}, status=400)


def not_fresh(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form whose token is not that of the session: a page, or a toast to a part of one."""
    if is_part(request):
        return toast_alone(request, NOT_FRESH, 403)
    return render(request, "403_csrf.html", status=403)
