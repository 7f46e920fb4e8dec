"""The filters of `ChunkQuery` as SQL over the table `chunks AS c`: the one place where they bind."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowledge.types import (
    PURGE_REASON,
    REJECTED_REASON,
    SOURCE_DELETE_REASON,
    ChunkQuery,
    Policy,
    State,
    Verdict,
)

Param = str | int

# The GLOB keeps SQLite from reading a bare number as a Julian day; `rows.has_lapsed` reads the same spellings.
EXPIRED = "(c.expires_at GLOB '????-??-??*' AND julianday(c.expires_at) <= julianday(?))"
NOT_EXPIRED = f"(c.expires_at IS NULL OR NOT COALESCE({EXPIRED}, 0))"
_DELETED = f"c.invalidation_reason IN ('{SOURCE_DELETE_REASON}', '{PURGE_REASON}')"
REJECTED = f"c.review_state = '{Verdict.REJECTED}'"
NOT_REJECTED = f"COALESCE(c.review_state, '') <> '{Verdict.REJECTED}'"


@dataclass(frozen=True, slots=True)
class Where:
    """A condition with its parameters, in order."""

    sql: str
    params: tuple[Param, ...]


@dataclass(slots=True)
class _Clauses:
    parts: list[str]
    params: list[Param]

    def add(self, sql: str, *params: Param) -> None:
        self.parts.append(sql)
        self.params.extend(params)

    def among(self, column: str, values: Sequence[Param]) -> None:
        if values:
            self.add(f"{column} IN ({', '.join('?' * len(values))})", *values)


def where(query: ChunkQuery, *, now: str, source_types: Iterable[str | None] | None = None) -> Where:
    """Turn every filter but the text into SQL.

    `now` is ISO 8601 text in UTC. `source_types` are the stored values that the wanted trust tiers cover
    (None where the query names no tier).
    """
    clauses = _Clauses([], [])
    clauses.among("c.id", query.ids)
    clauses.among("c.domain", query.domains)
    clauses.among("c.memory_kind", query.kinds)
    clauses.among("c.delivery_policy", query.policies)
    clauses.among("c.review_state", query.verdicts)
    clauses.among("c.source", query.sources)
    if query.epoch is not None:
        clauses.add("c.epoch = ?", query.epoch)
    if query.namespaces:
        _nullable(clauses, "c.namespace", [name or None for name in query.namespaces])
    if source_types is not None:
        _nullable(clauses, "c.source_type", list(source_types))
    _add_states(clauses, query, now)
    return Where(" AND ".join(clauses.parts) or "1", tuple(clauses.params))


def _nullable(clauses: _Clauses, column: str, values: Sequence[str | None]) -> None:
    """Match a column against values of which None stands for NULL and for the empty text."""
    named = [value for value in values if value]
    either = [f"{column} IN ({', '.join('?' * len(named))})"] if named else []
    if len(named) < len(values):
        either += [f"{column} IS NULL", f"{column} = ''"]
    clauses.add(f"({' OR '.join(either) or '0'})", *named)


def _add_states(clauses: _Clauses, query: ChunkQuery, now: str) -> None:
    if query.states:
        options = [_state(state, now) for state in query.states]
        clauses.add(
            f"({' OR '.join(option.sql for option in options)})",
            *(param for option in options for param in option.params),
        )
    if query.deliverable or not (query.states or query.include_superseded):
        clauses.add("c.invalidated_at IS NULL")
    if query.deliverable:
        clauses.add(f"c.delivery_policy <> '{Policy.ON_DEMAND}'")
    if query.deliverable or query.exclude_rejected:
        clauses.add(NOT_REJECTED)
    if query.exclude_rejected:
        clauses.add(f"COALESCE(c.invalidation_reason, '') NOT IN {SOFT_DELETES}")
    if query.deliverable or not query.include_expired:
        clauses.add(NOT_EXPIRED, now)


SOFT_DELETES = f"('{SOURCE_DELETE_REASON}', '{PURGE_REASON}', '{REJECTED_REASON}')"


def _state(state: State, now: str) -> Where:
    """The same ladder as `Chunk.state`, one rung."""
    gone = "c.invalidated_at IS NOT NULL"
    # The plus keeps SQLite from walking all valid rows by two indexes, where a better one is at hand.
    stays = f"(+c.invalidated_at IS NULL OR +c.invalidation_reason = '{REJECTED_REASON}')"
    current = f"{stays} AND {NOT_REJECTED}"
    match state:
        case State.DELETED:
            return Where(f"({gone} AND {_DELETED})", ())
        case State.SUPERSEDED:
            return Where(f"({gone} AND COALESCE(c.invalidation_reason, '') NOT IN {SOFT_DELETES})", ())
        case State.REJECTED:
            return Where(f"({stays} AND {REJECTED})", ())
        case State.EXPIRED:
            return Where(f"({current} AND COALESCE({EXPIRED}, 0))", (now,))
        case State.CONFIRMED:
            return Where(f"({current} AND {NOT_EXPIRED} AND c.review_state = '{Verdict.CONFIRMED}')", (now,))
        case State.PENDING:
            return Where(
                f"({current} AND {NOT_EXPIRED} AND COALESCE(c.review_state, '') <> '{Verdict.CONFIRMED}')",
                (now,),
            )
