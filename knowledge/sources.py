"""Reads the sources of the store: how many rows each has, and what a bulk delete or a restore would take."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from knowledge import grace
from knowledge.types import DEFAULT_PAGE, Page
from protoconsole.databases import KNOWLEDGE, fetch

_LIST = """SELECT source, total, deleted FROM pc_sources
    WHERE source >= ? AND source <> ? AND source < ? ORDER BY source LIMIT ?"""
_ONE = "SELECT source, total, deleted FROM pc_sources WHERE source = ?"
_VALID = """SELECT source, COUNT(*) FROM chunks INDEXED BY pc_chunks_source
    WHERE source IN (SELECT value FROM json_each(?)) AND invalidated_at IS NULL GROUP BY source"""
_FIRST_DELETED = """SELECT source, MIN(invalidated_at) FROM chunks
    WHERE source IN (SELECT value FROM json_each(?)) AND invalidated_at IS NOT NULL
        AND invalidation_reason IN ('source_delete', 'purge') GROUP BY source"""
_HIGHEST = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class SourceRows:
    """The rows of one source: a bulk delete takes those that are `valid`, a restore those `deleted`."""

    source: str
    total: int
    valid: int
    deleted: int
    grace_ends: datetime | None  # from when on deleted rows may be swept


def listing(*, prefix: str = "", after: str = "", limit: int = DEFAULT_PAGE) -> Page[SourceRows]:
    """List the sources that begin with a prefix, by name."""
    rows = fetch(KNOWLEDGE, _LIST, (max(after, prefix), after, prefix + _HIGHEST, limit + 1))
    groups = _counted(rows[:limit])
    return Page(groups, groups[-1].source if len(rows) > limit else None)


def one(source: str) -> SourceRows:
    """Count the rows of one source; all zero for an unknown one."""
    counted = _counted(fetch(KNOWLEDGE, _ONE, (source,)))
    return counted[0] if counted else SourceRows(source, 0, 0, 0, None)


def _counted(rows: Sequence[tuple[str, int, int]]) -> list[SourceRows]:
    valid = dict(fetch(KNOWLEDGE, _VALID, (json.dumps([row[0] for row in rows]),)))
    with_deleted = json.dumps([source for source, _, deleted in rows if deleted])
    first_deleted = dict(fetch(KNOWLEDGE, _FIRST_DELETED, (with_deleted,)))
    return [
        SourceRows(source, total, valid.get(source, 0), deleted, _ends(first_deleted.get(source)))
        for source, total, deleted in rows
    ]


def _ends(deleted_at: str | None) -> datetime | None:
    return grace.ends(deleted_at) if deleted_at else None
