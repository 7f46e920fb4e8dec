"""The append-only trail of every change of a chunk, written in the transaction of the change itself.

Entries name attributes before and after. The text is not copied: a revision keeps the old text in its own
row, and a real delete must leave none behind, so the trail holds a text's length and SHA-256.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import uuid4

from knowledge.errors import NotFound
from knowledge.types import AuditEntry, Page
from protoconsole.actors import Actor, Role
from protoconsole.databases import KNOWLEDGE, execute_each, fetch

Values = dict[str, Any]
SET = "set"  # delivery or expiry, in place

_INSERT = """INSERT INTO pc_audit
    (at, batch, action, chunk_id, actor, role, surface, session_id, before, after, note, undoes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""

_SELECT = """SELECT a.id, a.at, a.batch, a.action, a.chunk_id, a.actor, a.role, a.surface, a.session_id,
    a.before, a.after, a.note, EXISTS (SELECT 1 FROM pc_audit AS u WHERE u.undoes = a.batch AND u.chunk_id = a.chunk_id)
    FROM pc_audit AS a"""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one row. An empty `before` is a birth, an empty `after` an end."""

    chunk_id: int
    action: str
    before: Values = field(default_factory=dict)
    after: Values = field(default_factory=dict)
    note: str | None = None


def new_batch() -> str:
    return uuid4().hex


def record(changes: Iterable[Change], *, batch: str, by: Actor, at: str, undoes: str | None = None) -> None:
    """Append changes to the trail; needs the write transaction of the changes."""
    execute_each(
        KNOWLEDGE,
        _INSERT,
        (
            (
                *(at, batch, c.action, c.chunk_id, by.name, by.role, by.surface, by.session_id),
                *(_json(c.before), _json(c.after), c.note, undoes),
            )
            for c in changes
        ),
    )


def trail(chunk_id: int, *, before_id: int | None = None, limit: int = 50) -> Page[AuditEntry]:
    """Read what happened to one chunk, newest first."""
    rows = fetch(
        KNOWLEDGE,
        f"{_SELECT} WHERE a.chunk_id = ? AND a.id < ? ORDER BY a.id DESC LIMIT ?",
        (chunk_id, before_id or 2**63 - 1, limit + 1),
    )
    entries = [_entry(row) for row in rows[:limit]]
    return Page(entries, str(entries[-1].id) if len(rows) > limit else None)


@dataclass(frozen=True, slots=True)
class Recent:
    """What was changed as one: its first line, and how many lines it has in all."""

    entry: AuditEntry
    lines: int


def recent(limit: int) -> list[Recent]:
    """Read the last changes of the whole store, newest first, each batch once.

    The lines of a batch stand together, since one transaction wrote them.
    """
    found: list[Recent] = []
    before = 2**63 - 1
    while len(found) < limit:
        last = fetch(KNOWLEDGE, "SELECT batch FROM pc_audit WHERE id < ? ORDER BY id DESC LIMIT 1", (before,))
        if not last:
            break
        sql = "SELECT MIN(id), COUNT(*) FROM pc_audit WHERE batch = ?"
        [(before, lines)] = fetch(KNOWLEDGE, sql, last[0])
        [row] = fetch(KNOWLEDGE, f"{_SELECT} WHERE a.id = ?", (before,))
        found.append(Recent(_entry(row), lines))
    return found


def of_batch(batch: str) -> list[AuditEntry]:
    """Read all changes that were made as one, in the order they were made."""
    entries = [
        _entry(row) for row in fetch(KNOWLEDGE, f"{_SELECT} WHERE a.batch = ? ORDER BY a.id", (batch,))
    ]
    if not entries:
        raise NotFound(f"no change has the id {batch!r}")
    return entries


def was_set_by_an_operator(chunk_id: int) -> bool:
    """Say whether an operator pinned a row, changed its delivery or set its expiry."""
    sql = "SELECT 1 FROM pc_audit WHERE chunk_id = ? AND role = ? AND action = ? LIMIT 1"
    return bool(fetch(KNOWLEDGE, sql, (chunk_id, Role.OPERATOR, SET)))


def changed_since(ids: Sequence[int], entry_id: int) -> dict[int, set[str]]:
    """Name the attributes of rows that later changes than one touched."""
    marks = ", ".join("?" * len(ids))
    sql = f"SELECT chunk_id, before, after FROM pc_audit WHERE chunk_id IN ({marks}) AND id > ?"
    found: dict[int, set[str]] = {}
    for chunk_id, before, after in fetch(KNOWLEDGE, sql, (*ids, entry_id)):
        found.setdefault(chunk_id, set()).update(json.loads(before), json.loads(after))
    return found


def digest_of(text: str | None) -> str | None:
    """Stand in for a text in the trail: its length and SHA-256."""
    if text is None:
        return None
    return f"{len(text)} characters, sha256 {sha256(text.encode(errors='surrogatepass')).hexdigest()}"


def _json(values: Values) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def _entry(row: tuple[Any, ...]) -> AuditEntry:
    named = dict(zip(AuditEntry.__slots__, row, strict=True))
    decoded = {"before": json.loads(named["before"]), "after": json.loads(named["after"])}
    return AuditEntry(**named | decoded | {"undone": bool(named["undone"])})
