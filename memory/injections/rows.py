"""Reads rows of `injections`, whoever wrote them, without trusting a single cell."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from knowledge.types import TrustTier
from memory.injections.types import Kept, Turn
from memory.types import Budget, Part, Projection, Ref, Section, Shed
from protoconsole.databases import INJECTIONS, fetch

_TEXTS = ("ts", "session_id", "digest_session_ids", "hot_chunk_ids", "rag_chunk_ids")
# As bytes: another program's text that is no UTF-8 must not stop a read.
SELECTED = ", ".join(("id", *(f"CAST({name} AS BLOB)" for name in _TEXTS)))
_DETAILED = f"""SELECT {SELECTED}, CAST(approx_tokens AS INTEGER), CAST(rag_stage_counts AS BLOB), pc_key,
    pc_turn_id, pc_model, pc_window, pc_text_sha256, CAST(pc_about AS BLOB),
    {", ".join(f"CAST({name} AS BLOB)" for name in ("pc_blocks", "pc_beside", "pc_left_out", "pc_query"))}
    FROM injections"""
_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class Ids:
    """What every program writes: the row, when, for which session, and the three lists of ids."""

    id: int
    ts: str
    session_id: str
    digest: list[Ref]
    hot: list[Ref]
    rag: list[Ref]


@dataclass(frozen=True, slots=True)
class Stored:
    """A row with the hashes under which its words are kept."""

    turn: Turn
    blocks: bytes
    beside: bytes | None
    left_out: bytes | None
    query: bytes | None


def stored(ids: Iterable[int]) -> dict[int, Stored]:
    wanted = list(ids)
    marks = ", ".join("?" * len(wanted))
    return {row[0]: _stored(row) for row in fetch(INJECTIONS, f"{_DETAILED} WHERE id IN ({marks})", wanted)}


def ids_of(row: tuple[Any, ...]) -> Ids:
    """Read the columns of `SELECTED`."""
    row_id, ts, session_id, digest, hot, rag = row[:6]
    return Ids(row_id, _text(ts), _text(session_id), _ids(digest), _ids(hot), _ids(rag))


def about(projection: Projection) -> str:
    """Write what is true of a turn as a whole; `_about_of` reads it."""
    budget = projection.budget
    tiers = Counter(item.tier for item in projection.delivered)
    return json.dumps(
        {
            "sections": [[one.label, one.chars, one.truncated] for one in projection.sections],
            "budget": [
                budget.ceiling_chars,
                budget.used_chars,
                [[one.label, one.dropped_items, one.dropped_chars] for one in budget.overflow],
            ],
            "sources": list(projection.sources),
            "tiers": [tiers[tier] for tier in TrustTier],
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _stored(row: tuple[Any, ...]) -> Stored:
    ids = ids_of(row)
    tokens, counts, key, turn_id, model, window, sha, text, blocks, beside, left_out, query = row[6:]
    turn = Turn(
        id=ids.id,
        ts=ids.ts,
        session_id=ids.session_id,
        digest_ids=ids.digest,
        hot_ids=ids.hot,
        rag_ids=ids.rag,
        approx_tokens=tokens or 0,
        stage_counts=_counts(counts),
        kept=_kept(key, turn_id, model, window, sha, text) if blocks else None,
    )
    return Stored(turn, blocks or b"", beside, left_out, query)


def _kept(key: str, turn_id: str | None, model: str, window: int | None, sha: str, text: bytes) -> Kept:
    sections, budget, sources, tiers = _about_of(text)
    return Kept(key, turn_id, model, window, sha, sections, budget, sources, tiers)


def _about_of(text: bytes) -> tuple[list[Section], Budget, list[str], dict[TrustTier, int]]:
    """Read what `about` wrote; of a cell that was changed, which the chain names, nothing."""
    try:
        known = json.loads(text)
        ceiling, used, overflow = known["budget"]
        return (
            [Section(Part(label), chars, cut) for label, chars, cut in known["sections"]],
            Budget(ceiling, used, [Shed(Part(label), *dropped) for label, *dropped in overflow]),
            [str(source) for source in known["sources"]],
            dict(zip(TrustTier, known["tiers"], strict=True)),
        )
    except (ValueError, TypeError, LookupError):
        return [], Budget(None, 0), [], {}


def _counts(cell: bytes | None) -> Mapping[str, int]:
    counts = _json(cell)
    return {name: n for name, n in counts.items() if isinstance(n, int)} if isinstance(counts, dict) else {}


def _ids(cell: bytes | None) -> list[Ref]:
    found = _json(cell)
    return [one for one in found if _is_ref(one)] if isinstance(found, list) else []


def _is_ref(value: object) -> bool:
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    return isinstance(value, int) and not isinstance(value, bool) and -_LARGEST <= value < _LARGEST


def _json(cell: bytes | None) -> Any:
    try:
        return json.loads(_text(cell))
    except (ValueError, RecursionError):
        return None


def _text(cell: bytes | None) -> str:
    return (cell or b"").decode("utf-8", "replace")
