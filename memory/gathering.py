"""Collect from every store what could enter a prompt; `memory.projection` then decides what does."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from knowledge import playbooks, queries
from knowledge.errors import SearchBroken
from knowledge.playbooks import Playbook
from knowledge.text import clean_query
from knowledge.types import (
    MAX_PAGE,
    REJECTED_REASON,
    Chunk,
    ChunkQuery,
    Policy,
    Relation,
    State,
    TrustTier,
    Verdict,
)
from memory import digest, turn_faults
from memory.envelope.render import always_on_words
from memory.projection import MOST_ALWAYS_ON_CHARS, MOST_ALWAYS_ON_ROWS
from memory.turn_faults import TurnFault
from memory.types import (
    Candidates,
    LeftOut,
    MemoryCandidate,
    Options,
    Part,
    PlaybookCandidate,
    Reason,
    Ref,
    SessionCandidate,
    TurnRequest,
    WhatIf,
    WorkingState,
)
from memory.windows import window_of
from memory.working_states import working_state_of
from protoconsole.actors import MAINTENANCE
from protoconsole.instance import current

IN_HAND = (State.CONFIRMED, State.PENDING, State.REJECTED, State.EXPIRED)
ALWAYS_ON_WANTED = MOST_ALWAYS_ON_ROWS + 1  # one more shows that the limit cuts
ALWAYS_ON_AT_FIRST = 30  # as many as usually fill their limit of characters
REFUSED_SHOWN = 20
OVER_FETCH = 3  # of hits, where a floor of trust will take some away

Ranked = tuple[Chunk, float | None]
Refusal = Callable[[Chunk], Reason | None]


class _Found(NamedTuple):
    rows: list[Ranked]
    refused: list[LeftOut]


def options_of(request: TurnRequest) -> Options:
    """Put together what decides on a turn: the configuration and the request."""
    config = current().config
    return Options(
        window=request.window or window_of(request.model, note=request.record and not request.incognito),
        budget_pct=config.context.budget_pct,
        max_sessions=config.memory.max_sessions,
        max_session_tokens=config.memory.max_tokens,
        top_k=config.knowledge.top_k,
        preview_chars=config.knowledge.recall_preview_chars,
        min_trust=TrustTier(config.knowledge.inject_min_trust),
        skills_top_k=config.skills.top_k,
        incognito=request.incognito,
        goal_turn=request.goal_turn,
        memory_on=config.middleware.knowledge,
    )


def gather(request: TurnRequest, options: Options, what_if: WhatIf | None = None) -> Candidates:
    """Read what could enter the prompt of a turn, each part in its order of delivery.

    Nothing of memory is read for a turn that gets none. `what_if` changes what was read, never a store.
    """
    own = Candidates(playbooks=_playbooks(), working_state=_working_state(request))
    if options.incognito or not options.memory_on:
        return own
    what_if = _followed(what_if) if what_if else WhatIf()
    query = clean_query(request.query)
    always_on = _always_on(what_if)
    hits = _hits(query, options, {chunk.id for chunk, _ in always_on.rows}, what_if)
    return replace(
        own,
        sessions=_sessions(request.session_id, query),
        always_on=[_candidate(*row) for row in always_on.rows],
        hits=[_candidate(*row) for row in hits.rows],
        refused=[*always_on.refused, *hits.refused],
    )


def _followed(what_if: WhatIf) -> WhatIf:
    """Add the rows whose place proposals take that are looked at as if confirmed."""
    replaced: set[Ref] = set()
    for ref in what_if.confirmed:
        link = queries.link_of(ref) if isinstance(ref, int) else None
        if link and link.relation is Relation.PROPOSES and queries.by_ids([link.target_id], MAINTENANCE):
            chain = queries.history(link.target_id, MAINTENANCE)
            replaced.add(queries.end_of(chain, link.target_id).id)
    return replace(what_if, replaced=frozenset(replaced - what_if.confirmed))


def always_on_candidates() -> list[MemoryCandidate]:
    """Read the rows that every turn is offered, newest first."""
    return [_candidate(*row) for row in _always_on(WhatIf()).rows]


def refusal_of(chunk: Chunk) -> Reason | None:
    """Say why a row may enter no prompt unasked, None where it may."""
    reasons = (
        (Reason.REJECTED, chunk.review_state is Verdict.REJECTED),
        (Reason.INVALIDATED, chunk.invalidated_at is not None),
        (Reason.EXPIRED, chunk.expired),
        (Reason.ON_DEMAND, chunk.delivery_policy is Policy.ON_DEMAND),
    )
    return next((reason for reason, holds in reasons if holds), None)


@dataclass(frozen=True, slots=True)
class _Selection:
    """Takes rows in their order until enough of them may enter; `besides` are rows that do not count.

    Rows are first read without the filters, so that one query also shows what is refused. Only where those
    leave too few are more of them read, and then the strict way.
    """

    part: Part
    wanted: int
    refusal: Refusal
    besides: Collection[Ref] = ()

    def of(self, read: Callable[[bool, int], Sequence[Ranked]]) -> _Found:
        """Select from what `read(strictly, most)` gives."""
        at_first = self.wanted + REFUSED_SHOWN
        loose = read(False, at_first)
        found, enough = self._taken(loose)
        if enough or len(loose) < at_first:
            return found
        known = {chunk.id for chunk, _ in found.rows}
        more = [row for row in read(True, at_first + len(self.besides)) if row[0].id not in known]
        return _Found(self._taken([*found.rows, *more])[0].rows, found.refused)

    def _taken(self, rows: Sequence[Ranked]) -> tuple[_Found, bool]:
        found, missing = _Found([], []), self.wanted
        for chunk, score in rows:
            if not missing:
                break
            if reason := self.refusal(chunk):
                found.refused.append(LeftOut(self.part, chunk.id, reason))
            else:
                found.rows.append((chunk, score))
                missing -= chunk.id not in self.besides
        return found, not missing


def _always_on(what_if: WhatIf) -> _Found:
    def read(strictly: bool, most: int) -> list[Ranked]:
        query = ChunkQuery(policies=(Policy.ALWAYS,), **_narrowed(strictly))
        rows = queries.browse(query, MAINTENANCE, limit=most).items
        return [(_as_if(chunk, what_if), None) for chunk in rows]

    found = _Selection(Part.ALWAYS_ON, ALWAYS_ON_AT_FIRST, refusal_of).of(read)
    if len(found.rows) == ALWAYS_ON_AT_FIRST and not _is_full(found.rows):
        found = _Selection(Part.ALWAYS_ON, ALWAYS_ON_WANTED, refusal_of).of(read)
    return _with_pinned(found, what_if) if what_if.pinned else found


def _is_full(rows: Sequence[Ranked]) -> bool:
    """Say whether the newest rows alone have more words than the limit of all of them lets in."""
    return sum(len(always_on_words(_candidate(*row))) for row in rows) > MOST_ALWAYS_ON_CHARS


def _with_pinned(found: _Found, what_if: WhatIf) -> _Found:
    """Put rows that are looked at as if pinned into their places among the always-on rows."""
    ids = tuple({ref for ref in what_if.pinned if isinstance(ref, int)} - {row[0].id for row in found.rows})
    query = ChunkQuery(ids=ids, states=IN_HAND)
    pinned = queries.browse(query, MAINTENANCE, limit=MAX_PAGE).items if ids else ()
    fit = [(_as_if(chunk, what_if), None) for chunk in pinned]
    rows: list[Ranked] = [*found.rows, *(row for row in fit if not refusal_of(row[0]))]
    return _Found(sorted(rows, key=lambda row: -row[0].id), found.refused)


def _hits(query: str, options: Options, always_on: Collection[Ref], what_if: WhatIf) -> _Found:
    if options.top_k <= 0:
        return _Found([], [])
    try:
        found = _searched(query, options, always_on, what_if)
    except SearchBroken as error:
        turn_faults.note(TurnFault.SEARCH, error)
        return _Found([], [])
    turn_faults.mended(TurnFault.SEARCH)
    return found


def _searched(query: str, options: Options, always_on: Collection[Ref], what_if: WhatIf) -> _Found:
    namespaces = current().config.knowledge.inject_namespaces
    floor = options.min_trust > TrustTier.EXTERNAL
    wanted = options.top_k * (OVER_FETCH if floor else 1)

    def refusal(chunk: Chunk) -> Reason | None:
        outside = bool(namespaces) and (chunk.namespace or "") not in namespaces
        return refusal_of(chunk) or (Reason.NAMESPACE if outside else None)

    def read(strictly: bool, most: int) -> list[Ranked]:
        asked = ChunkQuery(text=query, namespaces=namespaces if strictly else (), **_narrowed(strictly))
        rows = queries.ranked(asked, MAINTENANCE, k=most)
        return [(_as_if(chunk, what_if), score) for chunk, score in rows]

    return _Selection(Part.HITS, wanted, refusal, always_on).of(read)


def _narrowed(strictly: bool) -> dict[str, Any]:
    return {"deliverable": True} if strictly else {"states": IN_HAND}


def _as_if(chunk: Chunk, what_if: WhatIf) -> Chunk:
    if chunk.id in what_if.rejected:
        chunk = replace(chunk, review_state=Verdict.REJECTED)
    elif chunk.id in what_if.confirmed:
        reopened = chunk.invalidation_reason == REJECTED_REASON
        invalidated_at = None if reopened else chunk.invalidated_at
        chunk = replace(chunk, review_state=Verdict.CONFIRMED, invalidated_at=invalidated_at)
    if chunk.id in what_if.replaced:
        chunk = replace(chunk, invalidated_at=chunk.updated_at)
    return replace(chunk, delivery_policy=Policy.ALWAYS) if chunk.id in what_if.pinned else chunk


def _candidate(chunk: Chunk, score: float | None) -> MemoryCandidate:
    return MemoryCandidate(
        ref=chunk.id,
        heading=chunk.heading,
        content=chunk.content,
        domain=chunk.domain,
        stored=chunk.created_at[:10],
        tier=chunk.trust_tier,
        verdict=chunk.review_state,
        source=chunk.source,
        score=score,
    )


def _sessions(active_session: str | None, query: str) -> Sequence[SessionCandidate]:
    config = current().config
    policy, most = config.context.prior_sessions, config.memory.max_sessions
    return digest.candidates(policy, active_session, query, max_sessions=most)


def _playbooks() -> Sequence[PlaybookCandidate]:
    if not current().config.skills.enabled:
        return ()
    paths = current().paths
    listed = playbooks.for_agents(paths.skills_db, paths.skills_dir).listed
    return tuple(map(_playbook, listed))


@lru_cache(maxsize=4_096)
def _playbook(book: Playbook) -> PlaybookCandidate:
    """Convert a playbook; the same one gives the same value, which is quick to compare."""
    return PlaybookCandidate(book.name, book.description, book.slash)


def _working_state(request: TurnRequest) -> WorkingState:
    if request.working_state is not None:
        return request.working_state
    return working_state_of(request.session_id) if request.session_id else WorkingState()
