"""New rows: what an operator notes, a plugin adds, an agent remembers."""

from dataclasses import replace

from knowledge import audit, catch_up, fact_index
from knowledge.authority import may_supersede, stamp_provenance
from knowledge.fact_index import FactMatch
from knowledge.facts import Match
from knowledge.kinds import first_verdict, kind_for, policy_for
from knowledge.search.filters import NOT_EXPIRED, NOT_REJECTED, REJECTED, Where
from knowledge.services.changeset import ChangeSet, change_set
from knowledge.trust import tier_of
from knowledge.types import Added, Chunk, NewChunk, Outcome, Relation, Verdict
from knowledge.validation import guarded
from protoconsole.actors import Actor
from protoconsole.metrics import WRITES

_VALID = f"c.invalidated_at IS NULL AND {NOT_EXPIRED} AND {NOT_REJECTED}"

_DROPPED = Added(Outcome.DROPPED, None, "Nothing was stored: the text was only leaked reasoning.")


def add(new: NewChunk, by: Actor) -> Added:
    """Store a row as it is, whatever the store holds already.

    Answers `stored` with the row, or `dropped` for a text that was only reasoning.
    Raises Invalid (a bad value, a claim above the role) and Forbidden.
    """
    return _counted(_add(new, by))


def _add(new: NewChunk, by: Actor) -> Added:
    ready = guarded(stamp_provenance(new, by))
    if ready is None:
        return _DROPPED
    with change_set(by) as work:
        return _stored(_insert(work, ready))


def remember(new: NewChunk, by: Actor) -> Added:
    """Store what an agent learnt; a fact is first compared with the facts of its namespace (SPEC 5).

    Answers `stored`, `revised` (an older fact was superseded), `proposed` (it would supersede one that only
    an operator may replace), `duplicate`, `refused` (an operator rejected it before) or `dropped`.
    Raises Invalid and Forbidden as `add` does.
    """
    if new.domain != fact_index.FACT_DOMAIN:
        return add(new, by)
    return _counted(_remember_fact(new, by))


def _remember_fact(new: NewChunk, by: Actor) -> Added:
    ready = guarded(stamp_provenance(new, by))
    if ready is None:
        return _DROPPED
    with change_set(by) as work:
        catch_up.drain(catch_up.BATCH)
        return _consolidate(work, ready)


def _counted(added: Added) -> Added:
    WRITES.labels(added.outcome).inc()
    return added


def _consolidate(work: ChangeSet, new: NewChunk) -> Added:
    rejected = fact_index.nearest(new.content, new.namespace, Where(REJECTED, ()))
    if rejected and rejected.judgement.match is Match.DUPLICATE:
        why = f"Nothing was stored: an operator rejected this (#{rejected.chunk_id})."
        return Added(Outcome.REFUSED, None, why, rejected.chunk_id)
    standing = fact_index.nearest(new.content, new.namespace, Where(_VALID, (work.now,)))
    if standing and standing.judgement.match is Match.DUPLICATE:
        why = f"Nothing was stored: #{standing.chunk_id} already says this."
        return Added(Outcome.DUPLICATE, work.load(standing.chunk_id), why, standing.chunk_id)
    if rejected:
        new = replace(new, review_state=Verdict.PENDING)
    added = _revise(work, new, standing) if standing else _stored(_insert(work, new))
    if rejected and added.chunk:
        work.link(added.chunk, Relation.RESEMBLES_REJECTED, rejected.chunk_id)
    return added


def _revise(work: ChangeSet, new: NewChunk, standing: FactMatch) -> Added:
    old = work.load(standing.chunk_id)
    proposed = work.proposals_among([old]).get(old.id)
    ruled_on = audit.was_set_by_an_operator(old.id)
    new = _inheriting(new, old)
    if ruled_on or not may_supersede(tier_of(new.source_type), work.by, old):
        chunk = _insert(work, replace(new, review_state=Verdict.PENDING), note=f"would supersede #{old.id}")
        work.link(chunk, Relation.PROPOSES, old.id)
        why = f"Stored as #{chunk.id}, pending: it would supersede #{old.id}, once an operator confirms it."
        return Added(Outcome.PROPOSED, chunk, why, old.id)
    chunk = _insert(work, new, note=f"supersedes #{old.id}")
    work.supersede(old, chunk)
    if proposed is not None:
        work.link(chunk, Relation.PROPOSES, proposed)
    return Added(Outcome.REVISED, chunk, f"Stored as #{chunk.id}; it supersedes #{old.id}.", old.id)


def _inheriting(new: NewChunk, old: Chunk) -> NewChunk:
    """A revision is delivered as the row was, and lapses with it, where the writer says nothing else."""
    return replace(
        new,
        delivery_policy=new.delivery_policy or old.delivery_policy,
        expires_at=new.expires_at or old.expires_at,
    )


def _insert(work: ChangeSet, new: NewChunk, note: str | None = None) -> Chunk:
    return work.insert(_values(new), "added", note)


def _stored(chunk: Chunk) -> Added:
    return Added(Outcome.STORED, chunk, f"Stored as #{chunk.id}, {chunk.review_state}.")


def _values(new: NewChunk) -> dict[str, str | None]:
    """Fill what the caller left open: kind, policy and first verdict (SPEC 4)."""
    return {
        "content": new.content,
        "domain": new.domain,
        "heading": new.heading,
        "source": new.source,
        "source_type": new.source_type,
        "finding_type": new.finding_type,
        "namespace": new.namespace,
        "epoch": new.epoch,
        "memory_kind": new.kind or kind_for(new.domain, new.source_type),
        "subject": new.subject,
        "review_state": new.review_state or first_verdict(new.source_type),
        "expires_at": new.expires_at,
        "delivery_policy": policy_for(new.domain, new.delivery_policy),
    }
