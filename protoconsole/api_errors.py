"""Every fault of the API as `{"code", "detail"}`: the one place where errors become answers."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from knowledge import errors as knowledge_errors
from memory.injections.errors import TextDamaged
from protoconsole.access.api_auth import install_errors
from protoconsole.errors import StoreBusy
from protoconsole.reading import WrongMediaType

PREFIX = "/api/"

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    410: "damaged",
    412: "stale",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid",
    500: "internal",
    503: "unavailable",
}
STATUSES = {
    knowledge_errors.NotFound: 404,
    knowledge_errors.Invalid: 422,
    knowledge_errors.Forbidden: 403,
    knowledge_errors.Conflict: 409,
    knowledge_errors.Stale: 412,
    knowledge_errors.SearchBroken: 503,
    TextDamaged: 410,
}
# What Django itself answers, in the words of the API.
DETAILS = {
    400: "The request could not be understood.",
    403: "The request was refused.",
    404: "There is no such address.",
    405: "This address does not take that method.",
    500: "The server failed. What happened is in its log.",
}


def problem(status: int, detail: str) -> JsonResponse:
    return JsonResponse({"code": CODES.get(status, "error"), "detail": detail}, status=status)


def install(api: NinjaAPI) -> None:
    """Teach an API how to answer everything that can go wrong."""
    install_errors(api)
    for kind, status in STATUSES.items():
        api.add_exception_handler(kind, _saying(status))
    api.add_exception_handler(ValidationError, _invalid)
    api.add_exception_handler(HttpError, _unreadable)
    api.add_exception_handler(RequestDataTooBig, _too_large)
    api.add_exception_handler(StoreBusy, _busy)
    api.add_exception_handler(Http404, lambda request, error: problem(404, DETAILS[404]))
    api.add_exception_handler(Exception, _unforeseen)


class ApiErrorsMiddleware:
    """Give what Django answers under /api/ by itself the shape of the API's errors."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not request.path_info.startswith(PREFIX) or response.status_code < 400 or _is_json(response):
            return response
        status = response.status_code
        answer = problem(status, DETAILS.get(status, response.reason_phrase))
        if "Allow" in response.headers:
            answer.headers["Allow"] = response.headers["Allow"]
        return answer


def unknown_route(request: HttpRequest) -> HttpResponse:
    """Answer for every address under /api/ that is none of ours, whatever the method."""
    return problem(404, DETAILS[404])


unknown_route.csrf_exempt = True  # type: ignore[attr-defined]


def _is_json(response: HttpResponseBase) -> bool:
    return response.headers.get("Content-Type", "").startswith("application/json")


def _saying(status: int) -> Callable[[HttpRequest, Any], HttpResponse]:
    return lambda request, error: problem(status, str(error))


def _invalid(request: HttpRequest, error: Any) -> HttpResponse:
    return problem(422, "; ".join(fault["detail"] for fault in error.errors))


def _unreadable(request: HttpRequest, error: Any) -> HttpResponse:
    """Ninja wraps whatever the parser raised; the cause says what was wrong."""
    if isinstance(error.__cause__, WrongMediaType):
        return problem(415, str(error.__cause__))
    return problem(error.status_code, str(error.__cause__ or error))


def _too_large(request: HttpRequest, error: Any) -> HttpResponse:
    return problem(413, "The body is larger than this server takes; send it in pieces.")


def _busy(request: HttpRequest, error: Any) -> HttpResponse:
    response = problem(503, f"The store is busy: {error}.")
    response.headers["Retry-After"] = "1"
    return response


def _unforeseen(request: HttpRequest, error: Any) -> HttpResponse:
    raise error
