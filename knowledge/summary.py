"""The whole store at a glance: what waits, what is known, what changed, what is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from knowledge import adoption, audit, catch_up, queries, sample, waiting
from knowledge.audit import Recent
from knowledge.facets import facets
from knowledge.types import Chunk, ChunkQuery, Count, Policy, State, TrustTier
from protoconsole.instance import current

RECENT_CHANGES = 12
TOP_SOURCES = 6
CURRENT = ChunkQuery(states=(State.PENDING, State.CONFIRMED))
STATES = tuple(reversed(State))


@dataclass(frozen=True, slots=True)
class Summary:
    """What the overview shows. `current` counts the valid rows, `states` all rows."""

    path: Path
    total: int
    waiting: int
    oldest_waiting: Chunk | None
    current: int
    trust: Sequence[Count]
    states: Sequence[Count]
    always_on: int
    sources: Sequence[Count]
    changes: Sequence[Recent]
    older_program_warning: str | None
    config_warnings: Sequence[str]
    demo_rows: int
    index_pending: int


def read() -> Summary:
    """Summarize the store of the instance."""
    everything = facets(ChunkQuery(include_superseded=True))
    valid = facets(CURRENT)
    states = _by_value(everything.state)
    return Summary(
        path=current().paths.knowledge_db,
        total=everything.total,
        waiting=states.get(State.PENDING, 0),
        oldest_waiting=queries.oldest(waiting.EVERYTHING),
        current=valid.total,
        trust=[Count(tier.label, _by_value(valid.trust).get(tier.label, 0)) for tier in reversed(TrustTier)],
        states=[Count(state, states[state]) for state in STATES if state in states],
        always_on=_by_value(valid.policy).get(Policy.ALWAYS, 0),
        sources=everything.source[:TOP_SOURCES],
        changes=audit.recent(RECENT_CHANGES),
        older_program_warning=adoption.older_program_warning(),
        config_warnings=current().config.warnings,
        demo_rows=_by_value(everything.namespace).get(sample.NAMESPACE, 0),
        index_pending=catch_up.pending(),
    )


def _by_value(counts: Sequence[Count]) -> dict[str, int]:
    return {count.value: count.n for count in counts}
