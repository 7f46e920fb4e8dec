"""Brings what is derived from the rows up to date: missing stamps, the search index, the index of facts.

The triggers of the store note every change of any program in `pc_dirty`; our own writes drain it in their
own transaction, and a read drains what other programs left.
"""

import logging
import time
from collections.abc import Collection, Sequence

from django.db import DatabaseError
from django.utils import timezone

from knowledge import fact_index, markers
from knowledge.rows import SELECTED, as_text, batches, chunk_of
from knowledge.search import fts5
from knowledge.times import to_iso
from knowledge.types import Chunk
from protoconsole.databases import KNOWLEDGE, LOCK_TIMEOUT_S, execute_each, fetch, write_transaction
from protoconsole.errors import StoreBusy

_log = logging.getLogger("protoconsole.knowledge")
BATCH = 500
READ_PATIENCE_S = 0.3

_DIRTY = "SELECT chunk_id, indexed, heading, content FROM pc_dirty"
_STAMP = """UPDATE chunks SET memory_kind = COALESCE(memory_kind, ?),
    delivery_policy = COALESCE(delivery_policy, ?), review_state = COALESCE(review_state, ?) WHERE id = ?"""
_UNSTAMPED = "(memory_kind IS NULL OR delivery_policy IS NULL OR review_state IS NULL)"


def pending() -> int:
    """Count the rows that the index has not caught up with."""
    return int(fetch(KNOWLEDGE, "SELECT COUNT(*) FROM pc_dirty")[0][0])


def is_behind() -> bool:
    return bool(fetch(KNOWLEDGE, "SELECT 1 FROM pc_dirty LIMIT 1"))


def catch_up(limit: int = BATCH, *, patience: float = LOCK_TIMEOUT_S) -> int:
    """Work off at most `limit` changed rows in one transaction and say how many that were.

    Raises StoreBusy when the write lock cannot be had within `patience` seconds.
    """
    if not is_behind():
        return 0
    with write_transaction(KNOWLEDGE, patience):
        return drain(limit)


def before_reading() -> None:
    """Take in what other programs wrote, for a moment, unless the store is busy: a read does not wait.

    What is left shows in `pending`, which every search tells. A broken index keeps nobody from lists: the
    search itself says that it is broken, and `/readyz` why.
    """
    enough = time.monotonic() + READ_PATIENCE_S
    try:
        while catch_up(patience=READ_PATIENCE_S) and time.monotonic() < enough:
            pass
    except StoreBusy:
        return
    except DatabaseError as error:
        _log.warning("rows that changed cannot be indexed: %s", error)


def drain(limit: int) -> int:
    """Work off at most `limit` changed rows inside the caller's write transaction and say how many."""
    dirty = fetch(KNOWLEDGE, f"{_DIRTY} LIMIT ?", (limit,))
    for part in batches(dirty):
        _notice_upgrade([row[0] for row in part if not row[1]])
        _work_off(part)
    return len(dirty)


def drain_rows(ids: Collection[int]) -> None:
    """Work off rows of the caller's own write transaction, however many others wait."""
    for part in batches(list(ids)):
        marks = ", ".join("?" * len(part))
        _work_off(fetch(KNOWLEDGE, f"{_DIRTY} WHERE chunk_id IN ({marks})", part))


def _notice_upgrade(new_ids: Sequence[int]) -> None:
    """A new row of the other program that carries a verdict tells that it is no longer older than verdicts."""
    known = markers.get(markers.OLDER_PROGRAM)
    if known is None or not new_ids:
        return
    marks = ", ".join("?" * len(new_ids))
    sql = f"SELECT 1 FROM chunks WHERE review_state IS NOT NULL AND id > ? AND id IN ({marks}) LIMIT 1"
    if fetch(KNOWLEDGE, sql, (int(known), *new_ids)):
        markers.drop(markers.OLDER_PROGRAM)


def _work_off(dirty: Sequence[tuple[int, int, str | None, str]]) -> None:
    ids = [row[0] for row in dirty]
    _stamp(ids)
    present = _present(ids)
    if fts5.available():
        fts5.reindex(_change(row, present.get(row[0])) for row in dirty)
    else:
        markers.drop(markers.INDEX)
    fact_index.reindex(ids, present.values())
    execute_each(KNOWLEDGE, "DELETE FROM pc_dirty WHERE chunk_id = ?", ((row_id,) for row_id in ids))


def _change(dirty: tuple[int, int, str | None, str], chunk: Chunk | None) -> fts5.Change:
    chunk_id, indexed, heading, content = dirty
    return fts5.Change(
        chunk_id,
        old=fts5.Text(as_text(heading), as_text(content)) if indexed else None,
        new=fts5.Text(chunk.heading, chunk.content) if chunk else None,
    )


def _present(ids: Sequence[int]) -> dict[int, Chunk]:
    marks = ", ".join("?" * len(ids))
    rows = fetch(KNOWLEDGE, f"SELECT {SELECTED} FROM chunks AS c WHERE c.id IN ({marks})", ids)
    now = to_iso(timezone.now())
    return {row[0]: chunk_of(row, now=now) for row in rows}


def _stamp(ids: Sequence[int]) -> None:
    """Give rows of a program that knows no types their kind, policy and first verdict, in NULL cells only."""
    marks = ", ".join("?" * len(ids))
    sql = f"SELECT {SELECTED} FROM chunks AS c WHERE {_UNSTAMPED} AND c.id IN ({marks})"
    chunks = [chunk_of(row, now="") for row in fetch(KNOWLEDGE, sql, ids)]
    execute_each(
        KNOWLEDGE, _STAMP, ((c.memory_kind, c.delivery_policy, c.review_state, c.id) for c in chunks)
    )
