"""Who may see a page: decorators whose name is the permission."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from protoconsole.access.keys import actor_of_operator
from protoconsole.access.models import Operator
from protoconsole.access.requests import KnownRequest, set_actor
from protoconsole.actors import Role
from protoconsole.parts import is_part, toast_alone

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]
KnownView = Callable[Concatenate[KnownRequest, P], HttpResponseBase]

OPERATORS_ONLY = "Your account may look but not change anything. Ask an operator to do this."


def viewer_required(view: KnownView[P]) -> View[P]:
    """Let in everybody who is signed in; the view finds `request.actor`."""
    return _guard(view, (Role.VIEWER, Role.OPERATOR))


def operator_required(view: KnownView[P]) -> View[P]:
    """Let in operators only; the view finds `request.actor`."""
    return _guard(view, (Role.OPERATOR,))


def _guard(view: KnownView[P], roles: tuple[Role, ...]) -> View[P]:
    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        user = request.user
        if not isinstance(user, Operator):
            return to_login(request)
        known = set_actor(request, actor_of_operator(user))
        return view(known, *args, **kwargs) if known.actor.role in roles else forbidden(known)

    return guarded


def to_login(request: HttpRequest) -> HttpResponse:
    """Lead to the login page and from there back: the whole page, also when a part of it was asked for."""
    htmx = getattr(request, "htmx", None)
    if htmx:
        return HttpResponseClientRedirect(_login_url(htmx.current_url_abs_path))
    return HttpResponseRedirect(_login_url(request.get_full_path() if request.method == "GET" else None))


def forbidden(request: KnownRequest) -> HttpResponse:
    """Say that the role is not enough: a toast to a part of a page, else a page."""
    if is_part(request):
        return toast_alone(request, OPERATORS_ONLY, 403)
    return render(request, "403.html", {"detail": OPERATORS_ONLY}, status=403)


def _login_url(back: str | None) -> str:
    login = reverse("access:login")
    return f"{login}?{urlencode({'next': back})}" if back else login
