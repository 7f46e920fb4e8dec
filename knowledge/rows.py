"""Rows of the table `chunks` become values of `knowledge.types.Chunk`, here alone."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from knowledge.kinds import first_verdict, kind_for, policy_for
from knowledge.reasoning import strip_reasoning
from knowledge.search.filters import Where
from knowledge.times import parse_iso
from knowledge.trust import tier_of
from knowledge.types import Chunk, Kind, Policy, Verdict
from protoconsole.actors import Actor
from protoconsole.databases import KNOWLEDGE, fetch

Named = TypeVar("Named", Kind, Policy, Verdict)
T = TypeVar("T")

COLUMNS = (
    "id",
    "content",
    "domain",
    "heading",
    "source",
    "source_type",
    "finding_type",
    "namespace",
    "epoch",
    "created_at",
    "updated_at",
    "invalidated_at",
    "invalidation_reason",
    "memory_kind",
    "subject",
    "review_state",
    "expires_at",
    "delivery_policy",
)
SELECTED = ", ".join(f"c.{name}" for name in COLUMNS)
_MEMBERS: Mapping[type, Mapping[str | None, Any]] = {
    names: {member.value: member for member in names} for names in (Kind, Policy, Verdict)
}
LEAN = SELECTED.replace("c.content", "'' AS content")


def select(
    where: Where, tail: str, params: Sequence[Any] = (), *, now: str, lean: bool = False
) -> list[Chunk]:
    """Read chunks that match a condition, `lean` without their content; `tail` is ORDER BY and LIMIT."""
    rows = fetch(
        KNOWLEDGE,
        f"SELECT {LEAN if lean else SELECTED} FROM chunks AS c WHERE {where.sql} {tail}",
        (*where.params, *params),
    )
    return [chunk_of(row, now=now) for row in rows]


def chunk_of(row: Sequence[Any], *, now: str) -> Chunk:
    """Build a chunk from a row in the order of COLUMNS, filling what an older program left NULL."""
    texts = map(as_text, row) if bytes in map(type, row) else row
    values = dict(zip(COLUMNS, texts, strict=True))
    domain, source_type = values["domain"], values["source_type"]
    values["updated_at"] = values["updated_at"] or values["created_at"]
    values["memory_kind"] = _member(Kind, values["memory_kind"]) or kind_for(domain, source_type)
    values["delivery_policy"] = _member(Policy, values["delivery_policy"]) or policy_for(domain, None)
    values["review_state"] = _member(Verdict, values["review_state"]) or first_verdict(source_type)
    return Chunk(**values, trust_tier=tier_of(source_type), expired=has_lapsed(values["expires_at"], now=now))


def as_text(value: Any) -> Any:
    """Read a BLOB that another program put where text belongs."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value


# What SQLite's date functions read too, so that lists and badges agree with what the filters deliver.
READABLE_EXPIRY = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|[+-]\d\d:\d\d))?)?", re.ASCII
)


def has_lapsed(expires_at: str | None, *, now: str) -> bool:
    """Say whether an expiry has passed. One that cannot be read has not: `doctor` reports it."""
    if not expires_at or not READABLE_EXPIRY.fullmatch(expires_at):
        return False
    moment, present = parse_iso(expires_at), parse_iso(now)
    return moment is not None and present is not None and moment <= present


def as_read_by(chunk: Chunk, actor: Actor) -> Chunk:
    """Give operators the stored text exactly, and agents the text without leaked reasoning."""
    if actor.reads_rejected:
        return chunk
    heading = strip_reasoning(chunk.heading) if chunk.heading else chunk.heading
    return replace(chunk, content=strip_reasoning(chunk.content), heading=heading)


def batches(values: Sequence[T], size: int = 500) -> Iterator[Sequence[T]]:
    """Cut a list so that no statement has more parameters than SQLite takes."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _member(names: type[Named], value: str | None) -> Named | None:
    """Find a member by its word; None for NULL, and for a word of a newer program."""
    member: Named | None = _MEMBERS[names].get(value)
    return member
