"""What every page of somebody who is signed in needs to know of this app."""

from django.http import HttpRequest
from django.urls import reverse


def signed_in(request: HttpRequest) -> dict[str, object]:
    """Give templates the addresses of the own account."""
    return {"sign_out_url": reverse("access:logout"), "password_url": reverse("access:password")}
