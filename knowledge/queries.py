"""Everything that reads memory. What a caller may not see is filtered here, so no door can leak it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from django.utils import timezone

from knowledge import audit, catch_up
from knowledge.errors import Invalid, NotFound
from knowledge.rows import as_read_by, as_text, select
from knowledge.search import fts5, like
from knowledge.search.filters import Where, where
from knowledge.search.words import query_words, snippet
from knowledge.text import clean_query
from knowledge.times import to_iso
from knowledge.trust import source_types_of
from knowledge.types import (
    DEFAULT_PAGE,
    MAX_PAGE,
    SOFT_DELETE_REASONS,
    AuditEntry,
    Chunk,
    ChunkQuery,
    Count,
    Hit,
    Link,
    Page,
    Ranking,
    Relation,
    SearchResult,
    SourceGroup,
    TrustTier,
    Verdict,
)
from protoconsole.actors import Actor
from protoconsole.databases import KNOWLEDGE, fetch

PREVIEW_CHARS = 300
HISTORY_LIMIT = 1_000
# The rows that a row replaced, and theirs (a chain may branch towards its beginning), and its successors.
_IN_CHAIN = """c.id IN (
    WITH RECURSIVE
    before (id, n) AS (SELECT ?, 0 UNION SELECT old.id, n + 1 FROM before CROSS JOIN chunks AS old
        ON old.invalidation_reason = 'superseded_by:' || before.id),
    after (id, n) AS (SELECT ?, 0 UNION
        SELECT CAST(substr(row.invalidation_reason, 15) AS INTEGER), n + 1 FROM after CROSS JOIN chunks AS row
        ON row.id = after.id WHERE row.invalidation_reason LIKE 'superseded_by:%')
    SELECT id FROM (SELECT id, n FROM before UNION ALL SELECT id, n FROM after ORDER BY n LIMIT ?))"""


def get(chunk_id: int, by: Actor) -> Chunk:
    """Read one row. Raises NotFound, also for a row that the caller may not see."""
    found = select(Where("c.id = ?", (chunk_id,)), "", now=_now())
    if not found or not may_read(found[0], by):
        raise NotFound(f"there is no chunk {chunk_id}")
    return as_read_by(found[0], by)


def by_ids(chunk_ids: Sequence[int], by: Actor) -> list[Chunk]:
    """Read those of the rows that exist and that the caller may see, in no order."""
    where = Where("c.id IN (SELECT value FROM json_each(?))", (json.dumps(list(chunk_ids)),))
    found = select(where, "", now=_now()) if chunk_ids else []
    return [as_read_by(chunk, by) for chunk in found if may_read(chunk, by)]


def may_read(chunk: Chunk, by: Actor) -> bool:
    """Say whether a caller may see a row: agents and plugins see neither rejected nor deleted ones."""
    hidden = chunk.review_state is Verdict.REJECTED or (
        chunk.invalidated_at is not None and chunk.invalidation_reason in SOFT_DELETE_REASONS
    )
    return by.reads_rejected or not hidden


def browse(
    query: ChunkQuery,
    by: Actor,
    *,
    cursor: str | None = None,
    limit: int = DEFAULT_PAGE,
    oldest_first: bool = False,
) -> Page[Chunk]:
    """List the rows that match the filters, newest first; the text of the query is not looked at.

    `limit` is 1 to 200. Raises Invalid for a cursor that no list gave.
    """
    catch_up.before_reading()
    now = _now()
    limit = _within("limit", limit)
    beyond, direction = (">", "ASC") if oldest_first else ("<", "DESC")
    edge = 0 if cursor is None and oldest_first else _below(cursor)
    condition = where_of(_seen_by(query, by), now)
    found = select(
        Where(f"{condition.sql} AND c.id {beyond} ?", (*condition.params, edge)),
        f"ORDER BY c.id {direction} LIMIT ?",
        (limit + 1,),
        now=now,
    )
    items = [as_read_by(chunk, by) for chunk in found[:limit]]
    return Page(items, str(items[-1].id) if len(found) > limit else None)


def search(query: ChunkQuery, by: Actor, *, k: int = 10) -> SearchResult:
    """Find the k best rows for a text under the filters; without a text, the newest.

    `k` is 1 to 200. Raises SearchBroken where the index cannot answer: never an empty list instead.
    """
    k = _within("k", k)
    if not query.text.strip():
        page = browse(query, by, limit=k)
        return SearchResult(
            [_hit(chunk, None, []) for chunk in page.items], Ranking.NEWEST, catch_up.pending()
        )
    words = query_words(clean_query(query.text))
    hits = [_hit(chunk, score, words) for chunk, score in ranked(query, by, k=k)]
    ranking = Ranking.KEYWORD if fts5.available() else Ranking.LIKE
    return SearchResult(hits, ranking, catch_up.pending())


def ranked(query: ChunkQuery, by: Actor, *, k: int) -> list[tuple[Chunk, float]]:
    """Find the k best rows for a text, with their scores and without previews. Raises SearchBroken."""
    catch_up.before_reading()
    now = _now()
    words = query_words(clean_query(query.text))
    found = _engine().search(words, where_of(_seen_by(query, by), now), k, now=now)
    return [(as_read_by(chunk, by), score) for chunk, score in found]


def _engine() -> ModuleType:
    return fts5 if fts5.available() else like


def where_of(query: ChunkQuery, now: str) -> Where:
    """Turn the filters into SQL, with the trust tiers spelled out as the stored values that they cover."""
    wanted = {tier for tier in query.trust or TrustTier if tier >= query.min_trust}
    covered = None if wanted == set(TrustTier) else source_types_of(wanted, _source_types())
    condition = where(query, now=now, source_types=covered)
    if not query.contains.strip():
        return condition
    held = _engine().holding(query_words(clean_query(query.contains)))
    return Where(f"{condition.sql} AND {held.sql}", (*condition.params, *held.params))


def history(chunk_id: int, by: Actor) -> list[Chunk]:
    """Read the chain of revisions that a row belongs to, oldest first."""
    get(chunk_id, by)
    chain = select(Where(_IN_CHAIN, (chunk_id, chunk_id, HISTORY_LIMIT)), "ORDER BY c.id", now=_now())
    return [as_read_by(link, by) for link in chain if may_read(link, by)]


def end_of(chain: Sequence[Chunk], chunk_id: int) -> Chunk:
    """Follow a chain from one of its rows to the one that stands last; that need not be the newest."""
    rows = {chunk.id: chunk for chunk in chain}
    end = rows[chunk_id]
    while end.superseded_by in rows and end.superseded_by != chunk_id:
        end = rows[end.superseded_by]
    return end


def trail(
    chunk_id: int, by: Actor, *, cursor: str | None = None, limit: int = DEFAULT_PAGE
) -> Page[AuditEntry]:
    """List the changes of a row, newest first; they outlive the row. Raises NotFound where neither exists."""
    entries = audit.trail(chunk_id, before_id=_below(cursor), limit=_within("limit", limit))
    if not entries.items and cursor is None:
        get(chunk_id, by)
    return entries


def link_of(chunk_id: int) -> Link | None:
    """Tell which other row this one speaks of, where it is a proposal or resembles a rejected one."""
    rows = fetch(KNOWLEDGE, "SELECT relation, target_id FROM pc_links WHERE chunk_id = ?", (chunk_id,))
    return Link(Relation(rows[0][0]), rows[0][1]) if rows else None


def sources(*, after: str = "", limit: int = DEFAULT_PAGE) -> Page[SourceGroup]:
    """List the sources by name, with how many rows each has and how many of them are deleted."""
    rows = fetch(
        KNOWLEDGE,
        "SELECT source, total, deleted FROM pc_sources WHERE source > ? ORDER BY source LIMIT ?",
        (after, limit + 1),
    )
    groups = [SourceGroup(*row) for row in rows[:limit]]
    return Page(groups, groups[-1].source if len(rows) > limit else None)


def source_group(source: str) -> SourceGroup:
    """Count the rows of one source; all zero for an unknown one."""
    rows = fetch(KNOWLEDGE, "SELECT source, total, deleted FROM pc_sources WHERE source = ?", (source,))
    return SourceGroup(*rows[0]) if rows else SourceGroup(source, 0, 0)


def newest_id(query: ChunkQuery) -> int:
    """Name the newest row that matches the filters, 0 where none does."""
    condition = where_of(query, _now())
    sql = f"SELECT c.id FROM chunks AS c WHERE {condition.sql} ORDER BY c.id DESC LIMIT 1"
    return next((int(row[0]) for row in fetch(KNOWLEDGE, sql, condition.params)), 0)


def oldest(query: ChunkQuery) -> Chunk | None:
    """Read the row that has waited longest among those that match."""
    now = _now()
    found = select(where_of(query, now), "ORDER BY c.id LIMIT 1", now=now)
    return found[0] if found else None


def sources_matching(query: ChunkQuery, limit: int) -> list[Count]:
    """Count the rows that match by source, the largest sources first."""
    condition = where_of(query, _now())
    # The plus keeps SQLite from walking the sources of the whole store in order.
    sql = (
        f"SELECT c.source, COUNT(*) FROM chunks AS c WHERE {condition.sql} AND c.source <> ''"
        " GROUP BY +c.source ORDER BY 2 DESC, 1 LIMIT ?"
    )
    return [Count(*row) for row in fetch(KNOWLEDGE, sql, (*condition.params, limit))]


def writings(query: ChunkQuery, limit: int) -> list[tuple[int, str | None, str]]:
    """List id, source and time of storing of the oldest rows that match, without their texts."""
    condition = where_of(query, _now())
    sql = f"SELECT c.id, c.source, c.created_at FROM chunks AS c WHERE {condition.sql} ORDER BY c.id LIMIT ?"
    rows = fetch(KNOWLEDGE, sql, (*condition.params, limit))
    return [(chunk_id, as_text(source), as_text(at)) for chunk_id, source, at in rows]


def _seen_by(query: ChunkQuery, by: Actor) -> ChunkQuery:
    return query if by.reads_rejected else replace(query, exclude_rejected=True)


def _hit(chunk: Chunk, score: float | None, words: Sequence[str]) -> Hit:
    return Hit(chunk, score, snippet(chunk.content, words, PREVIEW_CHARS))


def _source_types() -> list[str]:
    return [row[0] for row in fetch(KNOWLEDGE, "SELECT DISTINCT source_type FROM pc_counts")]


def _within(field: str, value: int) -> int:
    if not 1 <= value <= MAX_PAGE:
        raise Invalid(field, f"{value} is out of range; send 1 to {MAX_PAGE}")
    return value


def _below(cursor: str | None) -> int:
    if cursor is None:
        return 2**63 - 1
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= 18):
        raise Invalid("cursor", f"{cursor[:40]!r} was not given by this list; leave it out to start anew")
    return int(cursor)


def _now() -> str:
    return to_iso(timezone.now())
