"""Give a turn its text, and keep the record of it."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from django.db import DatabaseError
from django.utils import timezone

from knowledge import queries
from knowledge.errors import NotFound
from knowledge.rows import batches
from knowledge.text import clean_query
from knowledge.types import MAX_PAGE, Chunk, ChunkQuery, State, Verdict
from memory import turn_faults
from memory.gathering import gather, options_of
from memory.injections import queries as injections
from memory.injections.errors import LogUnwritable, TextDamaged
from memory.injections.record import PATIENCE_S, record
from memory.keeping import kept_text
from memory.projection import project
from memory.turn_faults import TurnFault
from memory.types import Budget, Options, Part, Projection, Ref, Section, TurnRequest, WhatIf
from protoconsole.actors import MAINTENANCE, Actor
from protoconsole.databases import INJECTIONS, write_transaction
from protoconsole.errors import StoreBusy
from protoconsole.instance import current

__all__ = ["TurnAnswer", "TurnRequest", "WhatIf", "answer_of", "deliver", "preview"]

MEMORY = (Part.PRIOR_SESSIONS, Part.ALWAYS_ON, Part.HITS)

_log = logging.getLogger("protoconsole.delivery")


@dataclass(frozen=True, slots=True)
class TurnAnswer:
    """What a turn is told. `injection_id` is its row in the log, None where it has none."""

    text: str
    sections: Sequence[Section]
    digest_ids: Sequence[Ref]
    hot_ids: Sequence[Ref]
    rag_ids: Sequence[Ref]
    sources: Sequence[str]
    budget: Budget
    injection_id: int | None
    replayed: bool = False


def preview(request: TurnRequest, what_if: WhatIf | None = None) -> Projection:
    """Compose the text that a turn would get now; nothing is recorded."""
    request = replace(request, record=False)
    return _compose(request, options_of(request), what_if)


def deliver(request: TurnRequest, by: Actor) -> TurnAnswer:
    """Compose the text for a turn and record it; a retry of a recorded turn is given the same bytes again.

    A retry is one with the `turn_id` of an earlier turn of the same key. It is composed anew where a row of
    the earlier text was rejected or deleted since. A log that cannot be written is reported, and the turn
    goes out.
    """
    request = replace(request, query=clean_query(request.query))
    options = options_of(request)
    if options.incognito or not options.memory_on:
        return answer_of(_compose(request, options), None)
    earlier = _earlier(request, by)
    if earlier is not None:
        return earlier
    projection = _compose(request, options)
    if not request.record or not any(projection.ids(part) for part in MEMORY):
        return answer_of(projection, None)
    return _recorded(request, options, projection, by)


def answer_of(projection: Projection, injection_id: int | None) -> TurnAnswer:
    """Put a projection into the words of an answer."""
    digest, hot, rag = map(projection.ids, MEMORY)
    return TurnAnswer(
        text=projection.text,
        sections=projection.sections,
        digest_ids=digest,
        hot_ids=hot,
        rag_ids=rag,
        sources=projection.sources,
        budget=projection.budget,
        injection_id=injection_id,
    )


def _compose(request: TurnRequest, options: Options, what_if: WhatIf | None = None) -> Projection:
    projection = project(gather(request, options, what_if), options)
    ceiling, used = projection.budget.ceiling_chars, projection.budget.used_chars
    if ceiling is not None and used > ceiling:
        _warn_once(used, ceiling)
    return projection


@lru_cache(maxsize=1_024)
def _warn_once(used: int, ceiling: int) -> None:
    _log.warning("what is never left out takes %d characters, more than the %d of the budget", used, ceiling)


def _recorded(request: TurnRequest, options: Options, projection: Projection, by: Actor) -> TurnAnswer:
    try:
        with write_transaction(INJECTIONS, PATIENCE_S):
            earlier = _earlier(request, by)  # a retry may overtake the turn that it repeats
            if earlier is not None:
                return earlier
            row = record(
                projection,
                session_id=request.session_id or "",
                turn_id=request.turn_id,
                key=by.name,
                model=request.model or current().config.model.name,
                window=options.window,
                query=kept_text(request.query),
                now=timezone.now(),
            )
    except (LogUnwritable, StoreBusy, DatabaseError, OSError) as error:
        turn_faults.note(TurnFault.LOG, error)
        return answer_of(projection, None)
    turn_faults.mended(TurnFault.LOG)
    return answer_of(projection, row)


def _earlier(request: TurnRequest, by: Actor) -> TurnAnswer | None:
    """Give the stored answer to a turn, None where there is none or it may not be given again."""
    if request.turn_id is None:
        return None
    try:
        row = injections.stored_answer(by.name, request.turn_id)
        return None if row is None else _stored(row)
    except (DatabaseError, NotFound, TextDamaged) as error:
        turn_faults.note(TurnFault.LOG, error)
        return None


def _stored(injection_id: int) -> TurnAnswer | None:
    turn = injections.turn(injection_id).turn
    if turn.kept is None or not _all_stand([*turn.hot_ids, *turn.rag_ids]):
        return None
    return TurnAnswer(
        text=injections.text_of(injection_id),
        sections=turn.kept.sections,
        digest_ids=turn.digest_ids,
        hot_ids=turn.hot_ids,
        rag_ids=turn.rag_ids,
        sources=turn.kept.sources,
        budget=turn.kept.budget,
        injection_id=injection_id,
        replayed=True,
    )


def _all_stand(refs: Iterable[Ref]) -> bool:
    """Say whether each of the rows is still there and not rejected."""
    ids = [ref for ref in refs if isinstance(ref, int)]
    standing: set[int] = set()
    for part in batches(ids, MAX_PAGE):
        query = ChunkQuery(ids=part, include_superseded=True)
        rows = queries.browse(query, MAINTENANCE, limit=MAX_PAGE).items
        standing |= {row.id for row in rows if _stands(row)}
    return standing.issuperset(ids)


def _stands(row: Chunk) -> bool:
    return row.review_state is not Verdict.REJECTED and row.state is not State.DELETED
