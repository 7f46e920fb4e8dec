"""Verdicts, and what follows from them."""

from collections.abc import Container

from knowledge.rows import select
from knowledge.search.filters import Where
from knowledge.services.changeset import ChangeSet, change_set, require_operator
from knowledge.types import REJECTED_REASON, Chunk, Relation, TrustTier, Verdict
from protoconsole.actors import Actor

_LONGEST_CHAIN = 10_000


def review(
    chunk_id: int, verdict: Verdict, by: Actor, *, reason: str | None = None, if_match: str | None = None
) -> Chunk:
    """Rule on one row and answer it as it now is; the same verdict again changes nothing.

    Confirming a proposal supersedes the row that it speaks of; taking that verdict back restores it.
    Rejecting what an agent put in the place of an older row restores that row, and makes a proposal of the
    rejected one.
    Raises Forbidden (not an operator), NotFound, and Stale where `if_match` is an older version.
    """
    require_operator(by)
    with change_set(by) as work:
        rule(work, [work.load(chunk_id, if_match)], verdict, reason)
        return work.load(chunk_id)


def rule(work: ChangeSet, chunks: list[Chunk], verdict: Verdict, reason: str | None = None) -> None:
    """Rule on many rows inside a change set."""
    changed = [chunk for chunk in chunks if chunk.review_state is not verdict]
    work.update_many(changed, verdict, reason, review_state=verdict)
    proposals = work.proposals_among(changed)
    if verdict is Verdict.CONFIRMED:
        for chunk in changed:
            if chunk.id in proposals:
                take_place(work, chunk, proposals[chunk.id])
    else:
        _give_back(work, [chunk for chunk in changed if _loses_its_place(chunk, verdict, proposals)])


def take_place(work: ChangeSet, chunk: Chunk, target_id: int) -> None:
    """Let a proposal supersede the row that stands where its target stood, if it is valid itself."""
    stamped_only = chunk.invalidation_reason == REJECTED_REASON
    if chunk.expired or (chunk.invalidated_at is not None and not stamped_only):
        return
    standing = head_of(target_id, work.now)
    if standing and standing.id != chunk.id and standing.invalidated_at is None:
        work.supersede(standing, chunk)


def _loses_its_place(chunk: Chunk, verdict: Verdict, proposals: Container[int]) -> bool:
    """Say whether what a row replaced has to come back: not where the row itself has been replaced."""
    if chunk.invalidated_at is not None and chunk.invalidation_reason != REJECTED_REASON:
        return False
    took_effect = chunk.id in proposals and chunk.review_state is Verdict.CONFIRMED
    return took_effect or (verdict is Verdict.REJECTED and chunk.trust_tier is not TrustTier.OPERATOR)


def _give_back(work: ChangeSet, chunks: list[Chunk]) -> None:
    replaced = work.superseded_by(chunks)
    for chunk in chunks:
        for old in replaced.get(chunk.id, ()):
            work.update(old, "restored", invalidated_at=None, invalidation_reason=None)
            work.link(chunk, Relation.PROPOSES, old.id)


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
