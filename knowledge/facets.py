"""Counts by every dimension of the store, from cells that triggers keep: no scan of the rows.

A cell is one combination of attributes and how many rows have it. What no cell knows (a source, an epoch,
words) is counted from the matching rows themselves.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from knowledge import catch_up
from knowledge.queries import newest_id, where_of
from knowledge.schema import CELL_KEY, TOTAL_DIMENSIONS, cell_sql
from knowledge.search.filters import EXPIRED, Where
from knowledge.times import to_iso
from knowledge.trust import source_types_of, tier_of
from knowledge.types import (
    Chunk,
    ChunkQuery,
    Count,
    Facets,
    Policy,
    Selection,
    State,
    TrustTier,
    Verdict,
)
from protoconsole.databases import KNOWLEDGE, fetch

TOP_SOURCES = 8

# The column of a cell behind each dimension; trust is read off the source types.
COLUMNS = {
    "domain": "domain",
    "kind": "memory_kind",
    "policy": "delivery_policy",
    "verdict": "review_state",
    "namespace": "namespace",
    "trust": "source_type",
    "state": "state",
}
_BY_NAMESPACE = f"SELECT {CELL_KEY}, 0 AS expired, n FROM pc_counts"
_TOTALS = (
    f"""SELECT {", ".join(TOTAL_DIMENSIONS[:5])}, '' AS namespace, gone, 0 AS expired, n FROM pc_totals"""
)
_HIDDEN_FROM_AGENTS = f"review_state = '{Verdict.REJECTED}' OR gone NOT IN ('', '{State.SUPERSEDED}')"
# The ladder of `Chunk.state`.
_STATE = f"""CASE WHEN gone IN ('{State.DELETED}', '{State.SUPERSEDED}') THEN gone
    WHEN review_state = '{Verdict.REJECTED}' THEN '{State.REJECTED}'
    WHEN expired THEN '{State.EXPIRED}'
    WHEN review_state = '{Verdict.CONFIRMED}' THEN '{State.CONFIRMED}'
    ELSE '{State.PENDING}' END"""


def facets(query: ChunkQuery) -> Facets:
    """Count what matches the filters, by each dimension; a dimension's own filter does not narrow it.

    The ranked text of a query is not counted: `facets_of` counts its hits.
    """
    catch_up.before_reading()
    tests = _tests(query)
    counted: dict[str, Counter[str]] = {name: Counter() for name in COLUMNS}
    for name, value, n in _grouped(query, tests):
        counted[name][tier_of(value).label if name == "trust" else value] += n
    return _facets(total(query), counted, () if _rows_decide(query) else _top_sources())


def total(query: ChunkQuery) -> int:
    """Count what matches the filters, from the cells where they can tell."""
    cells = _cells(query, by_namespace=bool(query.namespaces))
    condition = _conjunction(_tests(query).values())
    sql = f"WITH {cells.sql} SELECT COALESCE(SUM(n), 0) FROM cells WHERE {condition.sql}"
    return int(fetch(KNOWLEDGE, sql, (*cells.params, *condition.params))[0][0])


def selection_of(query: ChunkQuery) -> Selection:
    """Count what matches the filters now and name the newest, to bind a bulk verdict to it."""
    return Selection(query, total(query), newest_id(query))


def facets_of(chunks: Iterable[Chunk]) -> Facets:
    """Count the rows of a result by each dimension."""
    rows = list(chunks)
    counted = {
        "domain": Counter(chunk.domain for chunk in rows),
        "kind": Counter(str(chunk.memory_kind) for chunk in rows),
        "policy": Counter(str(chunk.delivery_policy) for chunk in rows),
        "verdict": Counter(str(chunk.review_state) for chunk in rows),
        "namespace": Counter(chunk.namespace or "" for chunk in rows),
        "trust": Counter(chunk.trust for chunk in rows),
        "state": Counter(str(chunk.state) for chunk in rows),
    }
    by_source = Counter(chunk.source for chunk in rows if chunk.source)
    return _facets(len(rows), counted, _counts(by_source)[:TOP_SOURCES])


def _facets(matching: int, counted: dict[str, Counter[str]], sources: Sequence[Count]) -> Facets:
    return Facets(total=matching, source=sources, **{name: _counts(counted[name]) for name in counted})


def _counts(counter: Counter[str]) -> list[Count]:
    ordered = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return [Count(value, n) for value, n in ordered if n]


@dataclass(slots=True)
class _Test:
    """The conditions that a query puts on one dimension of a cell; the same as in `search.filters`."""

    parts: list[str] = field(default_factory=list)
    params: list[str | int] = field(default_factory=list)

    def among(self, column: str, values: Iterable[str | None] | None) -> "_Test":
        if values is not None:
            wanted = [value or "" for value in values]
            self.parts.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            self.params += wanted
        return self

    def unless(self, excluded: bool, sql: str) -> "_Test":
        if excluded:
            self.parts.append(f"NOT ({sql})")
        return self


def _tests(query: ChunkQuery) -> dict[str, _Test]:
    wanted = {tier for tier in query.trust or TrustTier if tier >= query.min_trust}
    policy = _Test().among("delivery_policy", query.policies or None)
    return {
        "domain": _Test().among("domain", query.domains or None),
        "kind": _Test().among("memory_kind", query.kinds or None),
        "policy": policy.unless(query.deliverable, f"delivery_policy = '{Policy.ON_DEMAND}'"),
        "verdict": _Test().among("review_state", query.verdicts or None),
        "namespace": _Test().among("namespace", query.namespaces or None),
        "trust": _Test().among("source_type", None if wanted == set(TrustTier) else _source_types(wanted)),
        "state": _state_test(query),
        "reader": _Test().unless(query.exclude_rejected, _HIDDEN_FROM_AGENTS),
    }


def _state_test(query: ChunkQuery) -> _Test:
    narrows_validity = query.deliverable or not (query.states or query.include_superseded)
    rejected = f"review_state = '{Verdict.REJECTED}'"
    return (
        _Test()
        .among("state", query.states or None)
        .unless(narrows_validity, "gone <> ''")
        .unless(query.deliverable, rejected)
        .unless(query.deliverable or not query.include_expired, "expired")
    )


def _conjunction(tests: Iterable[_Test]) -> Where:
    chosen = list(tests)
    parts = [part for test in chosen for part in test.parts]
    return Where(" AND ".join(parts) or "1", tuple(param for test in chosen for param in test.params))


def _grouped(query: ChunkQuery, tests: dict[str, _Test]) -> list[tuple[str, str, int]]:
    """Count by all dimensions, each under the tests of the others; only what needs namespaces reads them."""
    spaced = dict.fromkeys(COLUMNS, bool(query.namespaces)) | {"namespace": True}
    return [
        row
        for by_namespace in sorted(set(spaced.values()))
        for row in _grouped_by(
            [name for name in COLUMNS if spaced[name] is by_namespace], tests, _cells(query, by_namespace)
        )
    ]


def _grouped_by(names: Sequence[str], tests: dict[str, _Test], cells: Where) -> list[tuple[str, str, int]]:
    selects, params = [], list(cells.params)
    for name in names:
        condition = _conjunction(test for other, test in tests.items() if other != name)
        selects.append(
            f"SELECT '{name}', {COLUMNS[name]}, SUM(n) FROM cells WHERE {condition.sql} GROUP BY 2"
        )
        params += condition.params
    rows = fetch(KNOWLEDGE, f"WITH {cells.sql} {' UNION ALL '.join(selects)}", params)
    return [(name, value, n) for name, value, n in rows]


def _cells(query: ChunkQuery, by_namespace: bool) -> Where:
    """Give the common table `cells` that a count selects from."""
    now = to_iso(timezone.now())
    if _rows_decide(query):
        parts = [_from_rows(_only_rows_decide(query, now), now, expired=f"COALESCE({EXPIRED}, 0)")]
    else:
        # The kept cells do not know the time: lapsed rows are moved out of the cell that holds them.
        lapsed = Where(f"c.expires_at IS NOT NULL AND {EXPIRED}", (now,))
        moved = [_from_rows(lapsed, now, expired="1"), _from_rows(lapsed, now, expired="0", sign="-")]
        parts = [Where(_BY_NAMESPACE if by_namespace else _TOTALS, ()), *moved]
    counted = f"counted ({CELL_KEY}, expired, n) AS ({' UNION ALL '.join(part.sql for part in parts)})"
    cells = f"cells AS MATERIALIZED (SELECT *, {_STATE} AS state FROM counted)"
    return Where(f"{counted}, {cells}", tuple(param for part in parts for param in part.params))


def _from_rows(condition: Where, now: str, *, expired: str, sign: str = "") -> Where:
    sql = (
        f"SELECT {cell_sql('c.')}, {expired} AS expired, {sign}COUNT(*) AS n FROM chunks AS c"
        f" WHERE {condition.sql} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8"
    )
    return Where(sql, (*((now,) if "?" in expired else ()), *condition.params))


def _only_rows_decide(query: ChunkQuery, now: str) -> Where:
    narrowed = ChunkQuery(
        ids=query.ids,
        sources=query.sources,
        epoch=query.epoch,
        contains=query.contains,
        include_superseded=True,
    )
    return where_of(narrowed, now)


def _rows_decide(query: ChunkQuery) -> bool:
    return bool(query.ids or query.sources or query.epoch is not None or query.contains.strip())


def _source_types(tiers: set[TrustTier]) -> list[str | None]:
    known = [row[0] for row in fetch(KNOWLEDGE, "SELECT DISTINCT source_type FROM pc_counts")]
    return source_types_of(tiers, known)


def _top_sources() -> list[Count]:
    sql = """SELECT source, total - deleted FROM pc_sources WHERE total - deleted > 0
        ORDER BY total - deleted DESC LIMIT ?"""
    return [Count(*row) for row in fetch(KNOWLEDGE, sql, (TOP_SOURCES,))]
