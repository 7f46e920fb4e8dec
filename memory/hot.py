"""The always-on rows as an operator governs them: the set and the order that every turn is given."""

from collections.abc import Mapping
from dataclasses import dataclass

from knowledge import queries, services
from knowledge.errors import NotFound
from knowledge.types import DEFAULT_PAGE, MAX_PAGE, Chunk, ChunkQuery, Edit, Page, Policy
from memory.gathering import IN_HAND, always_on_candidates, refusal_of
from memory.projection import project
from memory.types import Candidates, Options, Part, Reason, Ref
from protoconsole.actors import Actor
from protoconsole.instance import current


@dataclass(frozen=True, slots=True)
class HotRow:
    """A row and whether the next turn is given it; `why_not` is None too where it is no longer always-on."""

    chunk: Chunk
    injecting: bool
    why_not: Reason | None = None


def always_on(by: Actor) -> list[HotRow]:
    """List the newest 200 always-on rows in the order of delivery, with those that do not enter."""
    return list(page(by, limit=MAX_PAGE).items)


def page(by: Actor, *, cursor: str | None = None, limit: int = DEFAULT_PAGE) -> Page[HotRow]:
    """List always-on rows newest first. `limit` is 1 to 200. Raises Invalid for a cursor that no list gave."""
    query = ChunkQuery(policies=(Policy.ALWAYS,), states=IN_HAND)
    rows = queries.browse(query, by, cursor=cursor, limit=limit)
    fates = _fates()
    shown = [_row(chunk, fates) for chunk in rows.items]
    return Page(shown, rows.next)


def edit(chunk_id: int, change: Edit, by: Actor, *, if_match: str | None = None) -> HotRow:
    """Change an always-on row as `services.edit` does; raise NotFound for a row that is not always-on."""
    _require_always_on(chunk_id, by)
    changed = services.edit(chunk_id, change, by, if_match=if_match)
    return _row(changed, _fates())


def unpin(chunk_id: int, by: Actor, *, if_match: str | None = None) -> Chunk:
    """Let a row enter only where a turn asks for it; raise NotFound for a row that is not always-on."""
    _require_always_on(chunk_id, by)
    return services.edit(chunk_id, Edit(delivery_policy=Policy.RETRIEVED), by, if_match=if_match)


def delete(chunk_id: int, by: Actor, *, if_match: str | None = None) -> None:
    """Delete an always-on row for good; raise NotFound for a row that is not always-on."""
    _require_always_on(chunk_id, by)
    services.delete(chunk_id, by, if_match=if_match)


def _require_always_on(chunk_id: int, by: Actor) -> None:
    if queries.get(chunk_id, by).delivery_policy is not Policy.ALWAYS:
        raise NotFound(f"chunk {chunk_id} is not always-on")


def _fates() -> Mapping[Ref, Reason | None]:
    """Say of the rows that the next turn is offered why it is not given them, None where it is."""
    options = Options(memory_on=current().config.middleware.knowledge)
    projection = project(Candidates(always_on=always_on_candidates()), options)
    left_out: dict[Ref, Reason | None] = {item.ref: item.reason for item in projection.left_out}
    return left_out | dict.fromkeys(projection.ids(Part.ALWAYS_ON))


def _row(chunk: Chunk, fates: Mapping[Ref, Reason | None]) -> HotRow:
    if chunk.delivery_policy is not Policy.ALWAYS:
        return HotRow(chunk, injecting=False)
    why_not = refusal_of(chunk) or fates.get(chunk.id, Reason.CAP)
    return HotRow(chunk, why_not is None, why_not)
