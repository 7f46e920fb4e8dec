"""Counts by every dimension of the store, from cells that triggers keep: no scan of the rows.

A cell is one combination of attributes and how many rows have it. What no cell knows (a source, an epoch,
words) is counted from the matching rows themselves.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils import timezone

from knowledge import catch_up
from knowledge.queries import where_of
from knowledge.schema import COUNTS_KEPT, cell_sql
from knowledge.search.filters import EXPIRED
from knowledge.times import to_iso
from knowledge.trust import tier_of
from knowledge.types import Chunk, ChunkQuery, Count, Facets, Policy, State, TrustTier, Verdict
from protoconsole.databases import KNOWLEDGE, fetch

TOP_SOURCES = 8


@dataclass(frozen=True, slots=True)
class Cell:
    """Some rows that share one combination of attributes; '' stands for none."""

    domain: str
    kind: str
    policy: str
    verdict: str
    source_type: str
    namespace: str
    gone: str  # why the rows are no longer valid: superseded, deleted, rejected, or ''
    expired: bool
    n: int

    @property
    def trust(self) -> TrustTier:
        return tier_of(self.source_type)

    @property
    def state(self) -> State:
        """The ladder of `Chunk.state`."""
        if self.gone in (State.DELETED, State.SUPERSEDED):
            return State(self.gone)
        if self.verdict == Verdict.REJECTED:
            return State.REJECTED
        if self.expired:
            return State.EXPIRED
        return State.CONFIRMED if self.verdict == Verdict.CONFIRMED else State.PENDING


Test = Callable[[Cell], bool]

VALUES: Mapping[str, Callable[[Cell], str]] = {
    "domain": lambda cell: cell.domain,
    "kind": lambda cell: cell.kind,
    "policy": lambda cell: cell.policy,
    "verdict": lambda cell: cell.verdict,
    "namespace": lambda cell: cell.namespace,
    "trust": lambda cell: cell.trust.label,
    "state": lambda cell: cell.state.value,
}


def facets(query: ChunkQuery) -> Facets:
    """Count what matches the filters, by each dimension; a dimension's own filter does not narrow it.

    The ranked text of a query is not counted: `facets_of` counts its hits.
    """
    catch_up.before_reading()
    return _facets(_cells(query), _tests(query), _top_sources() if not _rows_decide(query) else ())


def facets_of(chunks: Iterable[Chunk]) -> Facets:
    """Count the rows of a result by each dimension."""
    rows = list(chunks)
    by_source = Counter(chunk.source for chunk in rows if chunk.source)
    return _facets([_cell_of(chunk) for chunk in rows], {}, _counts(by_source)[:TOP_SOURCES])


def _facets(cells: Sequence[Cell], tests: Mapping[str, Test], sources: Sequence[Count]) -> Facets:
    def counted(dimension: str) -> Sequence[Count]:
        others = [test for name, test in tests.items() if name != dimension]
        counter: Counter[str] = Counter()
        for cell in cells:
            if all(test(cell) for test in others):
                counter[VALUES[dimension](cell)] += cell.n
        return _counts(counter)

    return Facets(
        total=sum(cell.n for cell in cells if all(test(cell) for test in tests.values())),
        source=sources,
        **{dimension: counted(dimension) for dimension in VALUES},
    )


def _counts(counter: Counter[str]) -> list[Count]:
    ordered = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return [Count(value, n) for value, n in ordered if n]


def _tests(query: ChunkQuery) -> dict[str, Test]:
    """The filters of a query that cells can answer, by dimension; the same as in `search.filters`."""
    trust = [tier for tier in query.trust or TrustTier if tier >= query.min_trust]
    return {
        "domain": _among(query.domains, VALUES["domain"]),
        "kind": _among(query.kinds, VALUES["kind"]),
        "policy": _policy_test(query),
        "verdict": _among(query.verdicts, VALUES["verdict"]),
        "namespace": _among(query.namespaces, VALUES["namespace"]),
        "trust": lambda cell: cell.trust in trust,
        "state": _state_test(query),
        "reader": lambda cell: not query.exclude_rejected or _agents_may_read(cell),
    }


def _among(wanted: Sequence[str], value: Callable[[Cell], str]) -> Test:
    return lambda cell: not wanted or value(cell) in wanted


def _policy_test(query: ChunkQuery) -> Test:
    among = _among(query.policies, VALUES["policy"])
    return lambda cell: among(cell) and not (query.deliverable and cell.policy == Policy.ON_DEMAND)


def _state_test(query: ChunkQuery) -> Test:
    def passes(cell: Cell) -> bool:
        if query.states and cell.state not in query.states:
            return False
        if cell.gone and (query.deliverable or not (query.states or query.include_superseded)):
            return False
        if query.deliverable and cell.state is State.REJECTED:
            return False
        return not cell.expired or (query.include_expired and not query.deliverable)

    return passes


def _agents_may_read(cell: Cell) -> bool:
    return cell.verdict != Verdict.REJECTED and cell.gone in ("", State.SUPERSEDED)


def _rows_decide(query: ChunkQuery) -> bool:
    return bool(query.ids or query.sources or query.epoch is not None or query.contains.strip())


def _cells(query: ChunkQuery) -> list[Cell]:
    now = to_iso(timezone.now())
    if _rows_decide(query):
        narrowed = ChunkQuery(
            ids=query.ids,
            sources=query.sources,
            epoch=query.epoch,
            contains=query.contains,
            include_superseded=True,
        )
        condition = where_of(narrowed, now)
        return _grouped(condition.sql, condition.params, now)
    expired = _grouped(f"c.expires_at IS NOT NULL AND {EXPIRED}", (now,), now)
    kept = [Cell(*row[:-1], False, row[-1]) for row in fetch(KNOWLEDGE, COUNTS_KEPT)]
    return kept + expired + [_minus(cell) for cell in expired]


def _grouped(condition: str, params: Sequence[str | int], now: str) -> list[Cell]:
    sql = (
        f"SELECT {cell_sql('c.')}, COALESCE({EXPIRED}, 0), COUNT(*) FROM chunks AS c"
        f" WHERE {condition} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8"
    )
    return [Cell(*row[:7], bool(row[7]), row[8]) for row in fetch(KNOWLEDGE, sql, (now, *params))]


def _minus(expired: Cell) -> Cell:
    """The kept cells do not know the time: take the lapsed rows out of the cell that holds them."""
    return replace(expired, expired=False, n=-expired.n)


def _cell_of(chunk: Chunk) -> Cell:
    gone = chunk.state if chunk.state in (State.DELETED, State.SUPERSEDED) else ""
    return Cell(
        chunk.domain,
        chunk.memory_kind,
        chunk.delivery_policy,
        chunk.review_state,
        chunk.source_type or "",
        chunk.namespace or "",
        gone,
        chunk.expired,
        1,
    )


def _top_sources() -> list[Count]:
    sql = "SELECT source, total FROM pc_sources ORDER BY total DESC LIMIT ?"
    return [Count(*row) for row in fetch(KNOWLEDGE, sql, (TOP_SOURCES,))]
