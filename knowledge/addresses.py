"""Facets as links: each turns one filter of the address on or off. Pure but for Django's QueryDict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from knowledge.types import Count, Facets, Kind, Policy, State, TrustTier, Verdict

LABELS: Mapping[str, str] = {
    "state": "State",
    "trust": "Trust",
    "kind": "Kind",
    "domain": "Domain",
    "policy": "Delivery",
    "namespace": "Namespace",
    "source": "Source",
}
# Closed sets keep their own order, so that a facet does not jump while its counts change.
ORDER: Mapping[str, Sequence[str]] = {
    "state": [state.value for state in reversed(State)],
    "trust": [tier.label for tier in reversed(TrustTier)],
    "kind": [kind.value for kind in Kind],
    "policy": [policy.value for policy in Policy],
    "verdict": [verdict.value for verdict in Verdict],
}


@dataclass(frozen=True, slots=True)
class FacetLink:
    """One value of a facet: how many rows have it, whether it is on, and the address that toggles it."""

    value: str
    label: str
    count: int
    active: bool
    href: str


@dataclass(frozen=True, slots=True)
class FacetGroup:
    """One dimension with its values."""

    name: str
    label: str
    items: Sequence[FacetLink]

    @property
    def active(self) -> int:
        return sum(item.active for item in self.items)


def facet_groups(facets: Facets, params: QueryDict, names: Sequence[str] = tuple(LABELS)) -> list[FacetGroup]:
    """Make the facet column of a page; a value that is switched on is shown even where nothing matches it."""
    groups = [FacetGroup(name, LABELS[name], _links(name, getattr(facets, name), params)) for name in names]
    return [group for group in groups if group.items]


def toggled(params: QueryDict, name: str, value: str) -> str:
    """Give the query string with one filter value switched over, back at the first page."""
    changed = params.copy()
    values = changed.getlist(name)
    kept = [other for other in values if other != value]
    changed.setlist(name, kept if len(kept) < len(values) else [*values, value])
    return first_page(changed)


def first_page(params: QueryDict) -> str:
    """Give the query string without what belongs to one view of the list."""
    changed = params.copy()
    for name in ("cursor", "chosen"):
        changed.pop(name, None)
    for name, values in list(changed.lists()):
        if values in ([], [""]) and name != "namespace":
            del changed[name]
    return f"?{changed.urlencode()}" if changed else "?"


def _links(name: str, counts: Sequence[Count], params: QueryDict) -> list[FacetLink]:
    active = params.getlist(name)
    counted = {count.value: count.n for count in counts}
    counted |= {value: 0 for value in active if value not in counted}
    order = ORDER.get(name)
    values = sorted(counted, key=lambda value: order.index(value) if order and value in order else len(counted))
    return [
        FacetLink(value, _label(value), counted[value], value in active, toggled(params, name, value))
        for value in values
    ]


def _label(value: str) -> str:
    return value.replace("_", " ") if value else "(none)"
