"""The table of texts, each kept once by its SHA-256."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from memory.injections.errors import TextDamaged
from protoconsole.databases import INJECTIONS, execute_each, fetch, rows_of

_AT_ONCE = 500
_SMALL = 2_048
_INSERT = "INSERT INTO pc_texts (sha, seen, body) VALUES (?, ?, ?)"
_SEEN = "UPDATE pc_texts SET seen = ? WHERE sha = ?"
_REMOVE = "DELETE FROM pc_texts WHERE id IN (SELECT id FROM pc_texts WHERE seen < ? LIMIT ?)"


def keep(texts: Mapping[bytes, bytes], day: int) -> None:
    """Store what is not there yet and note that a turn of this day uses it all; needs a write transaction.

    The noted day never goes back, whatever the clock does: a text is as old as the newest turn before it.
    """
    day = max(day, fetch(INJECTIONS, "SELECT COALESCE(MAX(seen), 0) FROM pc_texts")[0][0])
    known = dict(_select("sha, seen", texts))
    fresh = [(sha, day, _packed(body)) for sha, body in texts.items() if sha not in known]
    execute_each(INJECTIONS, _INSERT, fresh)
    execute_each(INJECTIONS, _SEEN, [(day, sha) for sha, seen in known.items() if seen < day])


def read(sha: bytes) -> bytes:
    """Raises TextDamaged where the text is gone or is not the one that was kept."""
    return read_all([sha])[sha]


def read_all(shas: Iterable[bytes]) -> dict[bytes, bytes]:
    """Read many texts at once. Raises TextDamaged for the first that is gone or not the one that was kept."""
    wanted = dict.fromkeys(shas)
    kept = dict(_select("sha, CAST(body AS BLOB)", wanted))
    return {sha: _proven(sha, kept.get(sha)) for sha in wanted}


def sound() -> set[bytes]:
    """Read every text and name those that are what their hash says."""
    return {sha for sha, body in _all() if body is not None and sha256(body).digest() == sha}


def forget_before(day: int, limit: int) -> int:
    """Remove texts that no turn has used since a day; needs a write transaction."""
    fetch(INJECTIONS, _REMOVE, (day, limit))
    return int(fetch(INJECTIONS, "SELECT changes()")[0][0])


def _select(columns: str, shas: Iterable[bytes]) -> list[tuple[Any, ...]]:
    wanted = list(shas)
    found: list[tuple[Any, ...]] = []
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(part))
        found += fetch(INJECTIONS, f"SELECT {columns} FROM pc_texts WHERE sha IN ({marks})", part)
    return found


def _proven(sha: bytes, packed: bytes | None) -> bytes:
    body = None if packed is None else _unpacked(packed)
    if body is None or sha256(body).digest() != sha:
        raise TextDamaged(f"the text {sha.hex()[:12]} is {'missing' if packed is None else 'damaged'}")
    return body


def _all() -> Iterator[tuple[bytes, bytes | None]]:
    for sha, body in rows_of(INJECTIONS, "SELECT CAST(sha AS BLOB), CAST(body AS BLOB) FROM pc_texts"):
        yield sha, _unpacked(body)


def _packed(body: bytes) -> bytes:
    """Most texts are a line: a small window is as good for them, and much faster to set up."""
    if len(body) > _SMALL:
        return zlib.compress(body)
    packer = zlib.compressobj(wbits=11, memLevel=4)
    return packer.compress(body) + packer.flush()


def _unpacked(body: bytes) -> bytes | None:
    try:
        return zlib.decompress(body)
    except zlib.error:
        return None
