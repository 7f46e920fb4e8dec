"""What happens to every request and answer, whichever page it is."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class BasePathMiddleware:
    """Take the sub-path off the address where the proxy in front has left it on."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        base = settings.BASE_PATH
        if base and f"{request.path_info}/".startswith(f"{base}/"):
            request.path_info = request.path_info.removeprefix(base) or "/"
            request.path = base + request.path_info
        return self.get_response(request)


class SecureCookiesMiddleware:
    """Mark cookies Secure exactly when the request came over https."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        for cookie in response.cookies.values():
            cookie["secure"] = request.is_secure() or ""
        return response


class NoStoreMiddleware:
    """Keep what a signed-in person or a key was shown out of every cache."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "no-store")
        return response
