"""Counts kept by triggers are what counting the listed rows gives."""

import sqlite3
from collections import Counter
from contextlib import closing
from datetime import timedelta
from random import Random

import pytest
from django.utils import timezone

from knowledge import queries
from knowledge.adoption import Opening
from knowledge.facets import facets, facets_of, total
from knowledge.times import to_iso
from knowledge.types import Chunk, ChunkQuery, Kind, Policy, State, TrustTier, Verdict
from tests.actors import OPERATOR

DIMENSIONS = {
    "domain": lambda chunk: chunk.domain,
    "kind": lambda chunk: chunk.memory_kind,
    "policy": lambda chunk: chunk.delivery_policy,
    "verdict": lambda chunk: chunk.review_state,
    "namespace": lambda chunk: chunk.namespace or "",
    "trust": lambda chunk: chunk.trust,
    "state": lambda chunk: chunk.state,
}
OPTIONS: dict[str, list[object]] = {
    "domains": [("fact",), ("fact", "general")],
    "kinds": [(Kind.FACT,)],
    "policies": [(Policy.ALWAYS,), (Policy.RETRIEVED, Policy.ON_DEMAND)],
    "verdicts": [(Verdict.PENDING,), (Verdict.REJECTED,)],
    "namespaces": [("a",), ("",), ("a", "")],
    "trust": [(TrustTier.AGENT,), (TrustTier.EXTERNAL, TrustTier.OPERATOR)],
    "min_trust": [TrustTier.AGENT, TrustTier.OPERATOR],
    "states": [(State.EXPIRED,), (State.PENDING, State.DELETED), (State.SUPERSEDED,), (State.REJECTED,)],
    "include_superseded": [True],
    "include_expired": [False],
    "deliverable": [True],
    "exclude_rejected": [True],
    "sources": [("s1",)],
    "epoch": ["e1"],
    "contains": ["tea", "green tea"],
}
OF_DIMENSION = {
    "domain": ("domains",),
    "kind": ("kinds",),
    "policy": ("policies",),
    "verdict": ("verdicts",),
    "namespace": ("namespaces",),
    "trust": ("trust", "min_trust"),
}


@pytest.fixture
def filled(store: Opening) -> None:
    """Two hundred rows of all sorts, written by a program that knows nothing of our counts."""
    random = Random(5)
    soon, past = (to_iso(timezone.now() + timedelta(days=days)) for days in (1, -1))
    with closing(sqlite3.connect(store.path)) as other:
        for _ in range(200):
            gone = random.choice([None, None, "2026-01-01T00:00:00+00:00"])
            row = (
                random.choice(["green tea", "black tea", "coffee"]),
                random.choice(["fact", "general", "hot"]),
                random.choice(["s1", "s2", None]),
                random.choice(["operator", " Manual ", "chat", "html", "", None]),
                random.choice(["a", "b", "", None]),
                random.choice(["e1", None]),
                gone,
                gone and random.choice(["source_delete", "purge", "rejected", "superseded_by:3", None]),
                random.choice(["confirmed", "rejected", "pending", None]),
                random.choice([None, soon, past]),
                random.choice(["on_demand", None]),
            )
            other.execute(
                "INSERT INTO chunks (content, domain, source, source_type, namespace, epoch, invalidated_at,"
                " invalidation_reason, review_state, expires_at, delivery_policy, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '2026', '2026')",
                row,
            )
        other.commit()


def listed(query: ChunkQuery) -> list[Chunk]:
    return list(queries.browse(query, OPERATOR, limit=200).items)


@pytest.mark.parametrize("seed", range(60))
def test_counts_are_those_of_the_listed_rows(filled: None, seed: int) -> None:
    random = Random(seed)
    chosen = {
        name: random.choice(OPTIONS[name]) for name in random.sample(sorted(OPTIONS), k=random.randint(0, 4))
    }
    query = ChunkQuery(**chosen)  # type: ignore[arg-type]

    counted = facets(query)

    assert counted.total == total(query) == len(listed(query)), chosen
    for name, own in OF_DIMENSION.items():
        others = ChunkQuery(**{key: value for key, value in chosen.items() if key not in own})  # type: ignore[arg-type]
        if name == "policy" and "deliverable" in chosen:
            continue  # what may be delivered is a filter on the policy too
        expected = Counter(str(DIMENSIONS[name](chunk)) for chunk in listed(others))
        assert {count.value: count.n for count in getattr(counted, name)} == expected, (name, chosen)


def test_counts_of_a_result_are_its_own(filled: None) -> None:
    rows = listed(ChunkQuery(include_superseded=True))[:50]

    counted = facets_of(rows)

    assert counted.total == 50
    for name, value in DIMENSIONS.items():
        assert {count.value: count.n for count in getattr(counted, name)} == Counter(
            str(value(row)) for row in rows
        )


def test_agents_are_not_even_told_how_many_rows_they_may_not_see(filled: None) -> None:
    counted = facets(ChunkQuery(include_superseded=True, exclude_rejected=True))

    assert {count.value for count in counted.state}.isdisjoint({"rejected", "deleted"})
    assert sum(count.n for count in counted.state) == counted.total
