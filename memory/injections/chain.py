"""The chain of our rows: each is signed together with its predecessor's signature.

What is signed is the row as SQLite itself spells it, type and bytes of every column, so that no reading of a
cell stands between the row and its proof. Rows of another program have no number in the chain.
"""

import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memory.injections import meta
from memory.injections.key import sign
from memory.injections.schema import ANCHOR
from protoconsole.databases import INJECTIONS, fetch, rows_of

_SIGNED = (
    "id",
    "ts",
    "session_id",
    "digest_session_ids",
    "hot_chunk_ids",
    "rag_chunk_ids",
    "approx_tokens",
    "rag_stage_counts",
    "pc_seq",
    "pc_key",
    "pc_turn_id",
    "pc_model",
    "pc_window",
    "pc_query",
    "pc_text_sha256",
    "pc_blocks",
    "pc_beside",
    "pc_left_out",
    "pc_about",
)
_SPELLED = " || '|' || ".join(f"typeof({name}) || hex({name})" for name in _SIGNED)
_LINKS = f"""SELECT id, pc_seq, CAST(pc_mac AS BLOB), {_SPELLED} FROM injections
    WHERE pc_seq IS NOT NULL"""
_LINK = "SELECT id, CAST(pc_seq AS INTEGER), CAST(pc_mac AS BLOB) FROM injections WHERE pc_seq IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Link:
    """A place in the chain: the row, its number from 1, and its signature."""

    id: int
    seq: int
    mac: bytes

    def same_as(self, other: "Link") -> bool:
        return (self.id, self.seq) == (other.id, other.seq) and hmac.compare_digest(self.mac, other.mac)


BEGINNING = Link(0, 0, b"\x00" * 32)


@dataclass(frozen=True, slots=True)
class Break:
    """The first place where the chain is not as it was written."""

    id: int
    why: str


def last(key: bytes) -> Link:
    """Find what the next row follows: the last row, else where pruning ended, else the beginning."""
    rows = fetch(INJECTIONS, f"{_LINK} ORDER BY pc_seq DESC LIMIT 1")
    return Link(rows[0][0], rows[0][1], rows[0][2] or b"") if rows else anchor(key) or BEGINNING


def at(seq: int) -> Link | None:
    rows = fetch(INJECTIONS, f"{_LINK} AND pc_seq = ?", (seq,))
    return Link(rows[0][0], rows[0][1], rows[0][2] or b"") if rows else None


def append(injection_id: int, key: bytes, before: Link) -> Link:
    """Sign a row that was just inserted as the one after `before`; needs the same write transaction."""
    [(spelled,)] = fetch(INJECTIONS, f"SELECT {_SPELLED} FROM injections WHERE id = ?", (injection_id,))
    link = Link(injection_id, before.seq + 1, _mac(key, spelled, before))
    fetch(INJECTIONS, "UPDATE injections SET pc_mac = ? WHERE id = ?", (link.mac, injection_id))
    return link


def walk(key: bytes) -> Iterator[Link | Break]:
    """Follow the chain from its anchor; a break ends the walk."""
    before = anchor(key) or BEGINNING
    if meta.get(ANCHOR) is not None and before is BEGINNING:
        yield Break(0, "the anchor that pruning left is not signed with this key")
        return
    for row in rows_of(INJECTIONS, f"{_LINKS} ORDER BY pc_seq, id"):
        step = _step(key, row, before)
        yield step
        if isinstance(step, Break):
            return
        before = step


def _step(key: bytes, row: tuple[Any, ...], before: Link) -> Link | Break:
    row_id, seq, mac, spelled = row
    if seq != before.seq + 1:
        after = f"after row #{before.id}" if before.id else "at the beginning"
        return Break(row_id, f"rows are missing or out of order {after} (number {before.seq + 1} is wanted)")
    if mac is None or not hmac.compare_digest(mac, _mac(key, spelled, before)):
        return Break(row_id, "it is not as it was written")
    return Link(row_id, seq, mac)


def set_anchor(key: bytes, link: Link) -> None:
    """Leave a signed note of the last pruned row, from which the rest can be verified."""
    signature = sign(key, "anchor", link.id, link.seq, link.mac.hex())
    meta.put(ANCHOR, json.dumps([link.id, link.seq, link.mac.hex(), signature.hex()]))


def anchor(key: bytes) -> Link | None:
    """Read where pruning ended; None where there is none or where it was not signed with this key."""
    try:
        row_id, seq, mac, signature = json.loads(meta.get(ANCHOR) or "[]")
        link = Link(int(row_id), int(seq), bytes.fromhex(mac))
        signed = hmac.compare_digest(
            bytes.fromhex(signature), sign(key, "anchor", link.id, link.seq, link.mac.hex())
        )
    except (ValueError, TypeError):
        return None
    return link if signed else None


def _mac(key: bytes, spelled: str, before: Link) -> bytes:
    return sign(key, "row", spelled, before.mac.hex())
