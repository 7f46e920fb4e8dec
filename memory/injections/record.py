"""Writes one row for a turn that had memory."""

import json
import logging
from datetime import datetime
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path

from django.db import DatabaseError, transaction

from knowledge.times import to_iso
from memory.injections import chain, head, index, texts
from memory.injections.blocks import Pieces, take_apart
from memory.injections.chain import Link
from memory.injections.errors import LogUnwritable
from memory.injections.key import signing_key
from memory.injections.moments import day_of, micros
from memory.injections.rows import Ids, about
from memory.types import Part, Projection
from protoconsole.databases import INJECTIONS, execute_each, fetch, write_transaction
from protoconsole.errors import StoreBusy

PATIENCE_S = 2.0  # a turn waits for the log no longer

_log = logging.getLogger("protoconsole.injections")
_INSERT = """INSERT INTO injections (ts, session_id, digest_session_ids, hot_chunk_ids, rag_chunk_ids,
    approx_tokens, rag_stage_counts, pc_seq, pc_key, pc_turn_id, pc_model, pc_window, pc_query, pc_text_sha256,
    pc_blocks, pc_beside, pc_left_out, pc_about) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""


def record(
    projection: Projection,
    *,
    session_id: str,
    turn_id: str | None,
    key: str,
    model: str,
    window: int | None,
    query: str,
    now: datetime,
) -> int:
    """Append the row of one turn, chained to the one before, and return its id.

    `key` is the name of the caller's key, `window` is in tokens. Raises LogUnwritable, and nothing else, where
    the log cannot take the row.
    """
    try:
        pieces = take_apart(projection, query)
        signing = signing_key()
        with write_transaction(INJECTIONS, PATIENCE_S):
            texts.keep(pieces.texts, day_of(micros(now)))
            before = chain.last(signing)
            asked = (key, turn_id, model, window)
            row = _insert(projection, pieces, before.seq + 1, session_id, asked, to_iso(now))
            link = chain.append(row.id, signing, before)
            index.enter_own(row, projection.delivered)
            transaction.on_commit(partial(_note, signing, link, before), using=INJECTIONS)
    except (DatabaseError, StoreBusy, OSError, ValueError, OverflowError) as error:
        # ValueError and OverflowError: a lone surrogate, or a cell that somebody made unusable.
        raise LogUnwritable(f"the turn could not be recorded: {error}") from error
    return row.id


def _insert(
    projection: Projection,
    pieces: Pieces,
    seq: int,
    session_id: str,
    asked: tuple[str, str | None, str, int | None],
    ts: str,
) -> Ids:
    digest, hot, rag = (projection.ids(part) for part in (Part.PRIOR_SESSIONS, Part.ALWAYS_ON, Part.HITS))
    values = (
        *(ts, session_id, json.dumps(digest), json.dumps(hot), json.dumps(rag)),
        len(projection.text) // 4,
        json.dumps({**projection.stage_counts, "rag_chunk_ids": rag}),
        seq,
        *asked,
        *(pieces.query, sha256(projection.text.encode()).hexdigest()),
        *(pieces.blocks, pieces.beside, pieces.left_out, about(projection)),
    )
    execute_each(INJECTIONS, _INSERT, [values])
    [(row_id,)] = fetch(INJECTIONS, "SELECT last_insert_rowid()")
    return Ids(row_id, ts, session_id, digest, hot, rag)


def _note(signing: bytes, link: Link, before: Link) -> None:
    """The row is committed, so a note that fails only lags behind; the next one makes up for it."""
    try:
        if not head.advance(signing, link, before):
            _say_once(head.path())
    except OSError as error:
        _log.error("the head of the injection log could not be noted: %s", error)


@lru_cache
def _say_once(note: Path) -> None:
    _log.error(
        "%s does not fit the injection log, which lost rows or was changed; run: manage.py doctor", note
    )
