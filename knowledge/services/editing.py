"""Changes of one row: a new revision of its text, its policy and expiry, its end."""

from typing import Any

from knowledge import audit
from knowledge.authority import OPERATOR_SOURCE_TYPE
from knowledge.errors import Conflict, Forbidden, Invalid, NotFound
from knowledge.queries import may_read
from knowledge.reasoning import strip_reasoning
from knowledge.rows import COLUMNS
from knowledge.services.changeset import ChangeSet, change_set, refuse_gone, require_operator
from knowledge.services.reviewing import head_of, take_place
from knowledge.types import (
    MAX_TEXT_CHARS,
    PURGE_REASON,
    Chunk,
    Edit,
    Relation,
    State,
    TrustTier,
    Unchanged,
    Verdict,
)
from knowledge.validation import check_text, checked_expiry, stripped_content, stripped_heading
from protoconsole.actors import Actor, Role

_BORN_ANEW = frozenset({"id", "created_at", "updated_at", "invalidated_at", "invalidation_reason"})


def edit(chunk_id: int, change: Edit, by: Actor, *, if_match: str | None = None) -> Chunk:
    """Change a row as an operator and answer the row that now stands.

    Text makes a new, confirmed revision of operator trust and supersedes the old row; a rejected row's
    revision stays rejected. Policy and expiry alone change in place.
    Raises Forbidden, NotFound, Stale, Conflict (the row is gone or replaced) and Invalid.
    """
    require_operator(by)
    with change_set(by) as work:
        chunk = work.load(chunk_id, if_match)
        refuse_gone(chunk)
        text, settings = _new_text(chunk, change), _new_settings(chunk, change)
        if text:
            return _revise(work, chunk, text | settings)
        return work.update(chunk, audit.SET, **settings) if settings else chunk


def reinstate(chunk_id: int, by: Actor) -> Chunk:
    """Bring a superseded row back, once the row that had replaced it is gone or no longer valid.

    Raises Forbidden, NotFound, and Conflict where the row is not superseded or its successor stands.
    """
    require_operator(by)
    with change_set(by) as work:
        chunk = work.load(chunk_id)
        if chunk.state is not State.SUPERSEDED:
            raise Conflict(f"#{chunk_id} is {chunk.state}, not superseded")
        standing = head_of(chunk_id, work.now)
        if standing and standing.id != chunk_id and standing.valid:
            raise Conflict(f"#{standing.id} stands in its place; edit that one")
        return work.update(chunk, "restored", invalidated_at=None, invalidation_reason=None)


def delete(chunk_id: int, by: Actor, *, if_match: str | None = None) -> None:
    """Delete one row for good, with its index rows and vectors. Raises Forbidden, NotFound and Stale."""
    require_operator(by)
    with change_set(by) as work:
        work.delete_many([work.load(chunk_id, if_match)], "deleted")


def forget(chunk_id: int, by: Actor, *, reason: str | None = None) -> Chunk:
    """Let an agent take back what agents or third parties wrote and no operator confirmed.

    The row waits out the grace time of a purge, so that an operator can restore it.
    Raises NotFound for a row that the agent may not see, Forbidden for one that it may not remove, Invalid
    for a reason that cannot be kept.
    """
    if by.role not in (Role.AGENT, Role.OPERATOR):
        raise Forbidden("only an agent or an operator may do this")
    check_text("reason", reason, MAX_TEXT_CHARS)
    with change_set(by) as work:
        chunk = work.load(chunk_id)
        if not may_read(chunk, by):
            raise NotFound(f"there is no chunk {chunk_id}")
        refuse_gone(chunk)
        if chunk.trust_tier is TrustTier.OPERATOR:
            raise Forbidden(f"#{chunk_id} was written by an operator; ask your operator to delete it")
        if chunk.review_state is Verdict.CONFIRMED:
            raise Forbidden(f"#{chunk_id} was confirmed by an operator; ask your operator to delete it")
        return work.update(
            chunk, "forgotten", reason, invalidated_at=work.now, invalidation_reason=PURGE_REASON
        )


def _new_text(chunk: Chunk, change: Edit) -> dict[str, Any]:
    after: dict[str, Any] = {}
    if change.content is not None:
        check_text("content", change.content, max(MAX_TEXT_CHARS, len(chunk.content)))
        after["content"] = stripped_content(change.content)
        if after["content"] is None:
            raise Invalid("content", "is only leaked reasoning; send the text to remember")
    if not isinstance(change.heading, Unchanged):
        check_text("heading", change.heading, MAX_TEXT_CHARS)
        after["heading"] = stripped_heading(change.heading)
    return {name: value for name, value in after.items() if value != getattr(chunk, name)}


def _new_settings(chunk: Chunk, change: Edit) -> dict[str, Any]:
    after: dict[str, Any] = {}
    if change.delivery_policy is not None:
        after["delivery_policy"] = change.delivery_policy
    if not isinstance(change.expires_at, Unchanged):
        after["expires_at"] = checked_expiry(change.expires_at)
    return {name: value for name, value in after.items() if value != getattr(chunk, name)}


def _revise(work: ChangeSet, old: Chunk, after: dict[str, Any]) -> Chunk:
    kept = {name: getattr(old, name) for name in COLUMNS if name not in _BORN_ANEW}
    kept |= {"content": strip_reasoning(old.content), "heading": stripped_heading(old.heading)}
    if not (kept | after)["content"]:
        raise Invalid("content", "is only leaked reasoning; send the text to remember")
    rejected = old.review_state is Verdict.REJECTED
    verdict = Verdict.REJECTED if rejected else Verdict.CONFIRMED
    stamped = {"source_type": OPERATOR_SOURCE_TYPE, "review_state": verdict}
    revision = work.insert(kept | stamped | after, "edited", f"revision of #{old.id}")
    work.supersede(old, revision)
    _carry_proposal(work, old, revision)
    return revision


def _carry_proposal(work: ChangeSet, old: Chunk, revision: Chunk) -> None:
    """A proposal that an operator edits takes effect with the edit, unless it is a rejected one."""
    target_id = work.proposals_among([old]).get(old.id)
    if target_id is None:
        return
    work.link(revision, Relation.PROPOSES, target_id)
    if revision.review_state is Verdict.CONFIRMED:
        take_place(work, revision, target_id)
