"""Removes what is older than `memory.injections_keep_days`, and leaves a chain that still verifies.

Only rows of our own go: what another program wrote is that program's to prune.

A turn of 7,000 characters (10 sessions, 12 always-on rows, 5 hits, 24 playbooks, 10 left out) takes about
4.5 kB of disk with its words and its index, so a year of 100 turns a day takes about 160 MB and one of 1,000
turns a day 1.6 GB (`benchmarks/bench_injections.py`).
"""

from datetime import datetime, timedelta

from memory.injections import chain, head, index, texts
from memory.injections.chain import Break, Link
from memory.injections.errors import ChainBroken, HeadDamaged
from memory.injections.key import signing_key
from memory.injections.moments import day_of, micros, micros_of_text
from memory.injections.rows import SELECTED, Ids, ids_of
from protoconsole.databases import INJECTIONS, execute_each, fetch, write_transaction
from protoconsole.instance import current

BATCH = 200
_OLDEST = f"SELECT {SELECTED} FROM injections WHERE pc_seq IS NOT NULL ORDER BY pc_seq LIMIT ?"


def prune(now: datetime) -> int:
    """Remove one batch of old rows, or of texts that no row needs any more, and say how many that were.

    Raises ChainBroken, and removes nothing, where rows are not as they were written: they are evidence.
    """
    days = current().config.memory.injections_keep_days
    if not days:
        return 0
    limit = micros(now - timedelta(days=days))
    rows = _oldest(BATCH)
    if rows and micros_of_text(rows[0].ts) < limit:
        with write_transaction(INJECTIONS):
            return _prune_rows(limit)
    return _prune_texts(day_of(limit))


def _prune_rows(limit: int) -> int:
    old: list[Ids] = []
    for row in _oldest(BATCH):
        if micros_of_text(row.ts) >= limit:
            break
        old.append(row)
    if old:
        key = signing_key()
        _anchor_after(old, key)
        for row in old:
            index.leave(row)
        execute_each(INJECTIONS, "DELETE FROM injections WHERE id = ?", [(row.id,) for row in old])
    return len(old)


def _anchor_after(old: list[Ids], key: bytes) -> None:
    """Prove the rows that go, then sign the place where the rest begins."""
    try:
        noted = head.read(key)
    except HeadDamaged as error:
        raise ChainBroken(f"nothing is pruned while the note of the head is damaged: {error}") from error
    if not head.is_borne_out(noted, last := chain.last(key), key):
        raise ChainBroken("nothing is pruned while the log ends before the row that was noted")
    reached: Link | None = None
    for step, row in zip(chain.walk(key), old, strict=False):
        if isinstance(step, Break) or step.id != row.id:
            raise ChainBroken(f"nothing is pruned while row #{step.id} is not as it was written")
        reached = step
    if reached is None or reached.id != old[-1].id:
        raise ChainBroken("nothing is pruned while the chain cannot be followed")
    head.note(key, last)
    chain.set_anchor(key, reached)


def _prune_texts(day: int) -> int:
    """Remove texts whose last turn is gone, by days: a day that still has turns keeps all of its texts."""
    if not fetch(INJECTIONS, "SELECT 1 FROM pc_texts WHERE seen < ? LIMIT 1", (day,)):
        return 0
    with write_transaction(INJECTIONS):
        kept = _oldest(1)
        return texts.forget_before(min([day, *(day_of(micros_of_text(row.ts)) for row in kept)]), BATCH)


def _oldest(limit: int) -> list[Ids]:
    return [ids_of(row) for row in fetch(INJECTIONS, _OLDEST, (limit,))]
