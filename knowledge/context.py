"""The rail of every page: where an operator can go, and how much waits for a verdict."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from knowledge.facets import total
from knowledge.types import ChunkQuery, State
from protoconsole.access.models import Operator
from protoconsole.actors import Role

WAITING = ChunkQuery(states=(State.PENDING,))


@dataclass(frozen=True, slots=True)
class RailLink:
    label: str
    url: str
    icon: str
    active: bool
    count: int | None = None


@dataclass(frozen=True, slots=True)
class RailSection:
    label: str
    links: list[RailLink]


def rail(request: HttpRequest) -> dict[str, object]:
    """Give signed-in people the rail and the address that searches memory."""
    user = getattr(request, "user", None)
    if not isinstance(user, Operator):
        return {}

    def link(label: str, name: str, icon: str, count: int | None = None) -> RailLink:
        url = reverse(name)
        path = f"{request.META.get('SCRIPT_NAME', '')}{request.path_info}"
        active = path == url if name == "knowledge:overview" else path.startswith(url)
        return RailLink(label, url, icon, active, count)

    memory = [
        link("Overview", "knowledge:overview", "layout-dashboard"),
        link("Review", "knowledge:review", "inbox", total(WAITING)),
        link("Store", "knowledge:store", "database"),
    ]
    delivery = [
        link("Sessions", "memory:sessions", "messages-square"),
        link("Hot memory", "memory:hot", "pin"),
        link("Injections", "memory:injections", "scroll-text"),
        link("Preview", "memory:preview", "eye"),
    ]
    sections = [RailSection("", memory), RailSection("Delivery", delivery)]
    if user.role == Role.OPERATOR:
        sections.append(RailSection("Access", [link("Keys", "access:keys", "key-round")]))
    return {"rail": sections, "jump_url": reverse("knowledge:store")}
