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
# Every filter of an address: the verdict has no facet of its own, since State says more.
FILTERS: Mapping[str, str] = {**LABELS, "verdict": "Verdict"}
MOST_VALUES = 25
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
    """One dimension with its values: the largest, and how many more there are."""

    name: str
    label: str
    items: Sequence[FacetLink]
    more: int = 0

    @property
    def active(self) -> int:
        return sum(item.active for item in self.items)


def facet_groups(facets: Facets, params: QueryDict, names: Sequence[str] = tuple(LABELS)) -> list[FacetGroup]:
    """Make the facet column of a page; a value that is switched on is shown even where nothing matches it."""
    groups = [_group(name, getattr(facets, name), params) for name in names]
    return [group for group in groups if group.items]


def _group(name: str, counts: Sequence[Count], params: QueryDict) -> FacetGroup:
    active = params.getlist(name)
    shown = [count for n, count in enumerate(counts) if n < MOST_VALUES or count.value in active]
    return FacetGroup(name, LABELS[name], _links(name, shown, params), len(counts) - len(shown))


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


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that is on, and the address without it."""

    label: str
    value: str
    href: str


def chips(params: QueryDict) -> list[Chip]:
    """Name every filter of an address but the text."""
    return [
        Chip(label, _label(value), toggled(params, name, value))
        for name, label in FILTERS.items()
        for value in dict.fromkeys(params.getlist(name))
    ]


def carried(params: QueryDict) -> list[tuple[str, str]]:
    """Give the filters that a search form carries along with a new text."""
    return [(name, value) for name in FILTERS for value in params.getlist(name)]


def without(params: QueryDict, name: str) -> str:
    """Give the query string without one parameter, back at the first page."""
    changed = params.copy()
    changed.pop(name, None)
    return first_page(changed)


def cleared(params: QueryDict) -> str:
    """Give the query string with no filter but the text."""
    kept = QueryDict(mutable=True)
    kept.setlist("q", params.getlist("q"))
    return f"?{kept.urlencode()}"


def next_page(params: QueryDict, cursor: str | None) -> str:
    """Give the query string of the next page, '' at the end."""
    return _with(params, "cursor", cursor) if cursor else ""


def choosing(params: QueryDict) -> str:
    """Give the query string that chooses a row of this page; its id is to be appended."""
    return _with(params, "chosen", "")


def _with(params: QueryDict, name: str, value: str) -> str:
    """Put a parameter last; a page of a list keeps its cursor while a row is chosen."""
    changed = params.copy()
    changed.pop("chosen", None)
    changed.pop(name, None)
    changed[name] = value
    return f"?{changed.urlencode()}"


def _links(name: str, counts: Sequence[Count], params: QueryDict) -> list[FacetLink]:
    active = params.getlist(name)
    counted = {count.value: count.n for count in counts}
    counted |= {value: 0 for value in active if value not in counted}
    order = ORDER.get(name)
    values = sorted(
        counted, key=lambda value: order.index(value) if order and value in order else len(counted)
    )
    return [
        FacetLink(value, _label(value), counted[value], value in active, toggled(params, name, value))
        for value in values
    ]


def _label(value: str) -> str:
    return value.replace("_", " ") if value else "(none)"
