"""The answer to a request that is refused before any page has seen it."""

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

WRONG_HOST = (
    "This server does not answer to the host name of this address. "
    "Add the name to PROTOCONSOLE_HOSTS and start the server again."
)
MALFORMED = "The request could not be understood."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say in one sentence what is wrong with the request: JSON to programs, a page to people."""
    detail = WRONG_HOST if isinstance(exception, DisallowedHost) else MALFORMED
    if request.path_info.startswith("/api/"):
        return JsonResponse({"code": "bad_request", "detail": detail}, status=400)
    return render(request, "400.html", {"detail": detail}, status=400)
