"""Verdicts, and what follows from them."""

from knowledge.rows import select
from knowledge.search.filters import Where
from knowledge.services.changeset import ChangeSet, change_set, require_operator
from knowledge.types import REJECTED_REASON, Chunk, Verdict
from protoconsole.actors import Actor
from protoconsole.instance import current

_LONGEST_CHAIN = 10_000


def review(
    chunk_id: int, verdict: Verdict, by: Actor, *, reason: str | None = None, if_match: str | None = None
) -> Chunk:
    """Rule on one row and answer it as it now is; the same verdict again changes nothing.

    Confirming a proposal supersedes the row that it speaks of; taking that verdict back restores it.
    Raises Forbidden (not an operator), NotFound, and Stale where `if_match` is an older version.
    """
    require_operator(by)
    with change_set(by) as work:
        rule(work, [work.load(chunk_id, if_match)], verdict, reason)
        return work.load(chunk_id)


def rule(work: ChangeSet, chunks: list[Chunk], verdict: Verdict, reason: str | None = None) -> None:
    """Rule on many rows inside a change set."""
    changed = [chunk for chunk in chunks if chunk.review_state is not verdict]
    groups: dict[tuple[str | None, str | None], list[Chunk]] = {}
    for chunk in changed:
        groups.setdefault(_invalidation(chunk, verdict, work.now), []).append(chunk)
    for (invalidated_at, why), group in groups.items():
        work.update_many(
            group,
            verdict,
            reason,
            review_state=verdict,
            invalidated_at=invalidated_at,
            invalidation_reason=why,
        )
    proposals = work.proposals_among(changed)
    for chunk in changed:
        if chunk.id in proposals:
            _follow(work, chunk, verdict, proposals[chunk.id])


def _invalidation(chunk: Chunk, verdict: Verdict, now: str) -> tuple[str | None, str | None]:
    """Stamp a rejected row for a program that ignores verdicts, where configured; clear that stamp alone."""
    if verdict is Verdict.REJECTED:
        if current().config.knowledge.reject_invalidates and chunk.invalidated_at is None:
            return now, REJECTED_REASON
    elif chunk.invalidation_reason == REJECTED_REASON:
        return None, None
    return chunk.invalidated_at, chunk.invalidation_reason


def _follow(work: ChangeSet, chunk: Chunk, verdict: Verdict, target_id: int) -> None:
    if verdict is Verdict.CONFIRMED:
        _take_place(work, chunk, target_id)
    elif chunk.review_state is Verdict.CONFIRMED:
        _give_back(work, chunk)


def _take_place(work: ChangeSet, chunk: Chunk, target_id: int) -> None:
    standing = head_of(target_id, work.now)
    if standing and standing.id != chunk.id and standing.invalidated_at is None:
        work.supersede(standing, chunk)


def _give_back(work: ChangeSet, chunk: Chunk) -> None:
    for old in work.load_many(Where("c.invalidation_reason = ?", (f"superseded_by:{chunk.id}",))):
        work.update(old, "restored", invalidated_at=None, invalidation_reason=None)


def head_of(chunk_id: int, now: str) -> Chunk | None:
    """Follow a chain of revisions to its end; None where a row of it is gone."""
    seen: set[int] = set()
    link: int | None = chunk_id
    chunk: Chunk | None = None
    while link is not None and link not in seen and len(seen) < _LONGEST_CHAIN:
        seen.add(link)
        found = select(Where("c.id = ?", (link,)), "", now=now)
        chunk = found[0] if found else None
        link = chunk.superseded_by if chunk else None
    return chunk
