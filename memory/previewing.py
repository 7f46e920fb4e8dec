"""The next prompt before it is asked for, and what it would be if an operator had ruled otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from django.utils import timezone

from knowledge.times import to_iso
from memory.charts import BudgetBar, budget_bar
from memory.delivery import preview
from memory.evidence import Block, Entry, LeftOutGroup, entries_of, laid_out, left_out_groups
from memory.injections import queries as log
from memory.injections.errors import TextDamaged
from memory.injections.types import Item, TurnQuery
from memory.types import Part, Projection, Ref, TurnRequest, WhatIf
from protoconsole.actors import Actor


class Ruling(StrEnum):
    """What an operator could have done with a row."""

    REJECTED = "rejected"
    CONFIRMED = "confirmed"
    PINNED = "pinned"


@dataclass(frozen=True, slots=True)
class Difference:
    """What a ruling on a row changes in the text."""

    added: Sequence[Entry]
    removed: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class Preview:
    """A prompt as it would be sent; `difference` is None where no ruling is supposed."""

    projection: Projection
    blocks: Sequence[Block]
    left_out: Sequence[LeftOutGroup]
    bar: BudgetBar
    difference: Difference | None


def read(request: TurnRequest, by: Actor, supposed: tuple[Ref, Ruling] | None = None) -> Preview:
    """Compose the next prompt; nothing is recorded. `supposed` is a row and what is supposed of it."""
    as_it_is = preview(request)
    shown = as_it_is if supposed is None else preview(request, _what_if(*supposed))
    entries = _entries(shown, by)
    return Preview(
        projection=shown,
        blocks=laid_out(shown.text, entries),
        left_out=left_out_groups(shown.left_out),
        bar=budget_bar(shown.budget, shown.sections),
        difference=None if supposed is None else difference(_entries(as_it_is, by), entries),
    )


def difference(before: Sequence[Entry], after: Sequence[Entry]) -> Difference:
    """Tell which entries came and which left."""
    known, now = _by_place(before), _by_place(after)
    return Difference(
        [entry for place, entry in now.items() if place not in known],
        [entry for place, entry in known.items() if place not in now],
    )


def with_last_query(request: TurnRequest) -> TurnRequest:
    """Let a session that is asked about without a message ask again what it asked last, where that is known."""
    if request.query.strip() or not request.session_id:
        return request
    turns = log.turns(TurnQuery(session_id=request.session_id), limit=1).items
    try:
        query = log.turn(turns[0].id).query if turns else None
    except TextDamaged:
        query = None
    return replace(request, query=query or "")


def _what_if(ref: Ref, ruling: Ruling) -> WhatIf:
    rows = frozenset({ref})
    match ruling:
        case Ruling.REJECTED:
            return WhatIf(rejected=rows)
        case Ruling.CONFIRMED:
            return WhatIf(confirmed=rows)
        case Ruling.PINNED:
            return WhatIf(pinned=rows)


def _entries(projection: Projection, by: Actor) -> list[Entry]:
    items = [
        Item(one.part, one.ref, one.rank, one.words, one.score, one.tier, one.verdict, one.source)
        for one in projection.delivered
    ]
    return entries_of(items, to_iso(timezone.now()), by)


def _by_place(entries: Sequence[Entry]) -> Mapping[tuple[Part, Ref, str | None], Entry]:
    return {(entry.item.part, entry.item.ref, entry.item.words): entry for entry in entries}
