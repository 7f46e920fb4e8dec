"""A request of somebody who is known."""

from typing import TYPE_CHECKING, cast

from django.http import HttpRequest

from protoconsole.actors import Actor

if TYPE_CHECKING:
    from django_htmx.middleware import HtmxDetails


class KnownRequest(HttpRequest):
    """What a view behind `viewer_required`, `operator_required` or `allow` receives."""

    actor: Actor
    htmx: "HtmxDetails"


def set_actor(request: HttpRequest, actor: Actor) -> "KnownRequest":
    known = cast("KnownRequest", request)
    known.actor = actor
    return known
