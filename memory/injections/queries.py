"""Reads of the log, each by one range of its index."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256
from typing import Any

from knowledge.errors import Invalid, NotFound
from knowledge.types import DEFAULT_PAGE, MAX_PAGE, Page, TrustTier
from memory.injections import blocks, index, rows, texts
from memory.injections.blocks import Reader
from memory.injections.errors import TextDamaged, TextNotKept
from memory.injections.moments import iso_of, micros
from memory.injections.rows import Stored
from memory.injections.types import Entered, Given, Index, Item, Kept, Turn, TurnDetail, TurnQuery
from memory.types import Part, Ref
from protoconsole.databases import INJECTIONS, fetch

Key = tuple[Index, Ref]
_RANGE = "SELECT at, injection_id FROM pc_injection_items AS i WHERE kind = ? AND ref = ?"
_ALSO = """ AND EXISTS (SELECT 1 FROM pc_injection_items AS o
    WHERE o.kind = ? AND o.ref = ? AND o.at = i.at AND o.injection_id = i.injection_id)"""


def turns(query: TurnQuery, *, cursor: str | None = None, limit: int = DEFAULT_PAGE) -> Page[Turn]:
    """List turns newest first. `limit` is 1 to 200. Raises Invalid for a cursor that no list gave."""
    if not 1 <= limit <= MAX_PAGE:
        raise Invalid("limit", f"must be 1 to {MAX_PAGE}")
    first, *others = _keys(query)
    sql, params = _RANGE, [*first]
    for other in others:
        sql, params = sql + _ALSO, [*params, *other]
    for condition, values in _bounds(query, cursor):
        sql, params = f"{sql} AND {condition}", [*params, *values]
    index.before_reading()
    found = fetch(INJECTIONS, f"{sql} ORDER BY at DESC, injection_id DESC LIMIT ?", (*params, limit + 1))
    known = rows.stored(injection_id for _, injection_id in found[:limit])
    shown = [known[injection_id].turn for _, injection_id in found[:limit] if injection_id in known]
    return Page(shown, "{}-{}".format(*found[limit - 1]) if len(found) > limit else None)


def turn(injection_id: int) -> TurnDetail:
    """Read one turn as it was then. Raises NotFound, and TextDamaged where its words no longer are."""
    row = _stored(injection_id)
    return _outline(row) if row.turn.legacy else _detail(row, _reader_of(row))


def turn_and_text(injection_id: int) -> tuple[TurnDetail, str]:
    """Read one turn together with its text, which is empty for a row of another program.

    Raises NotFound, and TextDamaged as `turn` and `text_of` do.
    """
    row = _stored(injection_id)
    if row.turn.kept is None:
        return _outline(row), ""
    read = _reader_of(row)
    return _detail(row, read), _text(row, row.turn.kept, read)


def outline(injection_id: int) -> TurnDetail:
    """Read what the row of a turn says by itself: the ids, without words. Raises NotFound."""
    return _outline(_stored(injection_id))


def text_of(injection_id: int) -> str:
    """Give the text of a turn byte for byte.

    Raises NotFound, TextNotKept for a row of another program, TextDamaged where it is not the text that was
    sent.
    """
    row = _stored(injection_id)
    if row.turn.kept is None:
        raise TextNotKept(
            f"turn #{injection_id} was recorded by a program that keeps ids only: text not kept"
        )
    return _text(row, row.turn.kept, _reader(injection_id, row.blocks))


def count_of(ref: Ref) -> Entered:
    """Count the turns that a chunk entered."""
    index.before_reading()
    of_chunk = "FROM pc_injection_items WHERE kind = ? AND ref = ?"
    key = (Index.CHUNK, ref)
    counted = fetch(INJECTIONS, "SELECT n FROM pc_injection_counts WHERE ref = ?", (ref,))
    ends = [
        fetch(INJECTIONS, f"SELECT at {of_chunk} ORDER BY at {order} LIMIT 1", key)
        for order in ("ASC", "DESC")
    ]
    first, last = (iso_of(end[0][0]) if end else None for end in ends)
    return Entered(counted[0][0] if counted else 0, first, last)


def stored_answer(key: str, turn_id: str) -> int | None:
    """Find the newest row that a key's turn left, so that a retry is answered from it."""
    rows_found = fetch(
        INJECTIONS,
        "SELECT id FROM injections WHERE pc_turn_id = ? AND pc_key = ? ORDER BY id DESC LIMIT 1",
        (turn_id, key),
    )
    return int(rows_found[0][0]) if rows_found else None


def read_before(session_id: str, moment: datetime) -> list[Given]:
    """List the chunks that a session had been given before a moment, oldest first, each with its first turn.

    All of them, since which are rejected by now only the knowledge store knows; `tier` and `source` are what
    they were then. The other turns of one are `turns(TurnQuery(session_id, ref, until=moment))`.
    """
    index.before_reading()
    found = fetch(
        INJECTIONS,
        """SELECT ref, injection_id, at, tier, source FROM pc_injection_given
        WHERE session_id = ? AND at < ? ORDER BY at, injection_id""",
        (session_id, micros(moment)),
    )
    return [_given(row) for row in found]


def from_outside(session_ids: Sequence[str], limit: int) -> list[tuple[str, Given]]:
    """List what sessions were given from outside or by nobody knows whom, oldest first, at most `limit`."""
    index.before_reading()
    found = fetch(
        INJECTIONS,
        """SELECT session_id, ref, injection_id, at, tier, source FROM pc_injection_given
        WHERE session_id IN (SELECT value FROM json_each(?)) AND (tier = ? OR tier IS NULL)
        ORDER BY at, injection_id LIMIT ?""",
        (json.dumps(list(session_ids)), TrustTier.EXTERNAL, limit),
    )
    return [(session_id, _given(row)) for session_id, *row in found]


@contextmanager
def _readable(injection_id: int) -> Iterator[None]:
    """Let a row that points at pieces of another kind be damage, not a crash."""
    try:
        yield
    except (ValueError, TypeError, LookupError) as error:
        raise TextDamaged(f"the pieces of turn #{injection_id} cannot be read") from error


def _reader_of(row: Stored) -> Reader:
    """Read every text that a row needs."""
    return _reader(row.turn.id, row.blocks + (row.beside or b""), row.left_out, row.query or None)


def _reader(injection_id: int, documents: bytes, *others: bytes | None) -> Reader:
    """Read documents and the words that they name in two steps, however many there are."""
    shas = blocks.hashes_of(documents)
    with _readable(injection_id):
        known = texts.read_all([*shas, *(sha for sha in others if sha is not None)])
        words = (sha for document in shas for sha in blocks.words_named_in(known[document]))
        return (known | texts.read_all(words)).__getitem__


def _detail(row: Stored, read: Reader) -> TurnDetail:
    with _readable(row.turn.id):
        items = list(blocks.entries(row.blocks, row.beside, read))
        left_out, total = blocks.left_out(row.left_out, read)
        query = read(row.query).decode() if row.query else None
    return TurnDetail(row.turn, query, items, left_out, total)


def _text(row: Stored, kept: Kept, read: Reader) -> str:
    with _readable(row.turn.id):
        text = blocks.put_together(row.blocks, read)
    if sha256(text.encode()).hexdigest() != kept.text_sha256:
        raise TextDamaged(f"the pieces of turn #{row.turn.id} do not make the text that was sent")
    return text


def _stored(injection_id: int) -> Stored:
    found = rows.stored([injection_id]).get(injection_id)
    if found is None:
        raise NotFound(f"there is no turn #{injection_id} in the injection log")
    return found


def _given(row: Sequence[Any]) -> Given:
    ref, turn_id, at, tier, source = row
    return Given(ref, turn_id, iso_of(at), None if tier is None else TrustTier(tier), source)


def _outline(row: Stored) -> TurnDetail:
    return TurnDetail(row.turn, None, list(_bare_items(row.turn)), (), 0)


def _bare_items(turn: Turn) -> Iterator[Item]:
    parts = (
        (Part.PRIOR_SESSIONS, turn.digest_ids),
        (Part.ALWAYS_ON, turn.hot_ids),
        (Part.HITS, turn.rag_ids),
    )
    for part, refs in parts:
        yield from (Item(part, ref, rank) for rank, ref in enumerate(refs, 1))


def _keys(query: TurnQuery) -> list[Key]:
    """Name the ranges that a turn must be in, the one to walk first: a session has few turns."""
    wanted = (
        (Index.SESSION, query.session_id),
        (Index.CHUNK, query.ref),
        (Index.DIGEST, query.told_of),
    )
    return [(kind, ref) for kind, ref in wanted if ref is not None] or [(Index.TURN, "")]


def _bounds(query: TurnQuery, cursor: str | None) -> Iterator[tuple[str, tuple[int, ...]]]:
    if query.since is not None:
        yield "at >= ?", (micros(query.since),)
    if query.until is not None:
        yield "at <= ?", (micros(query.until),)
    if cursor is not None:
        yield "(at, injection_id) < (?, ?)", _place(cursor)


def _place(cursor: str) -> tuple[int, int]:
    at, _, injection_id = cursor.rpartition("-")
    if not all(_is_number(part) for part in (at.removeprefix("-"), injection_id)):
        raise Invalid("cursor", f"{cursor[:40]!r} was not given by this list; leave it out to start anew")
    return int(at), int(injection_id)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18
