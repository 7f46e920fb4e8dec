"""Signing in and out, the own password, and the keys of programs."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.forms import AuthenticationForm, SetPasswordForm
from django.contrib.auth.views import LoginView, LogoutView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from protoconsole.access import keys, operators
from protoconsole.access.forms import KeyForm
from protoconsole.access.models import ApiKey
from protoconsole.access.permissions import operator_required
from protoconsole.access.requests import KnownRequest
from protoconsole.toasts import toast

BY_LINK = "signed_in_by_link"
PASSWORD_BACKEND = "django.contrib.auth.backends.ModelBackend"  # noqa: S105
COLUMNS = ("Name", "Role", "Begins with", "Made", "Last used", "State")


class Login(LoginView):
    """Ask for name and password."""

    template_name = "access/login.html"
    redirect_authenticated_user = True

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)


class Logout(LogoutView):
    """End the session and show the login page."""

    next_page = "access:login"


class Password(PasswordChangeView):
    """Set the own password; the old one is asked for unless a one-time link led here."""

    template_name = "access/password.html"
    success_url = settings.LOGIN_REDIRECT_URL

    def get_form_class(self) -> Any:
        return SetPasswordForm if self.request.session.get(BY_LINK) else super().get_form_class()

    def form_valid(self, form: Any) -> HttpResponse:
        self.request.session.pop(BY_LINK, None)
        toast(self.request, "Your password is set.")
        return super().form_valid(form)

    def form_invalid(self, form: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_variables("token")
def welcome(request: HttpRequest, token: str) -> HttpResponse:
    """Let an operator in by a one-time link; opening it uses nothing up, the button does."""
    if request.method != "POST":
        live = operators.link_is_live(token)
        return render(request, "access/welcome.html", {"live": live}, status=200 if live else 410)
    operator = operators.redeem_link(token)
    if operator is None:
        return render(request, "access/welcome.html", {"live": False}, status=410)
    login(request, operator, PASSWORD_BACKEND)
    request.session[BY_LINK] = True
    return redirect("access:password")


def locked_out(
    request: HttpRequest,
    original_response: HttpResponse | None = None,
    credentials: dict[str, str] | None = None,
) -> HttpResponse:
    """Answer somebody who failed to sign in too often."""
    response = render(request, "429.html", status=429)
    response.headers["Retry-After"] = str(round(settings.AXES_COOLOFF_TIME * 3600))
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def key_list(request: KnownRequest) -> HttpResponse:
    """List the keys of programs; make one and show it once."""
    if request.method != "POST":
        return _keys_page(request, KeyForm())
    form = KeyForm(request.POST)
    created = form.create(request.actor.name)
    if created is None:
        return _keys_page(request, form, status=422)
    key, token = created
    return _keys_page(request, KeyForm(), status=201, new_key=key, token=token)


@require_POST
@operator_required
def key_revoke(request: KnownRequest, key_id: int) -> HttpResponse:
    """Shut a key out from now on."""
    key = get_object_or_404(ApiKey, pk=key_id)
    if not keys.revoke_by_id(key.pk):
        return _keys_page(request, KeyForm(), status=409, conflict=f"{key.name} was revoked already.")
    toast(request, f"{key.name} is revoked: the key opens nothing any more.")
    return redirect("access:keys")


def _keys_page(request: HttpRequest, form: KeyForm, *, status: int = 200, **more: object) -> HttpResponse:
    keys_shown = ApiKey.objects.order_by("-created_at", "-pk")
    context = {"keys": keys_shown, "columns": COLUMNS, "form": form, **more}
    return render(request, "access/keys.html", context, status=status)
