"""Changes of many rows at once, each one transaction that can be undone as one, but the final sweep."""

from django.utils import timezone

from knowledge.errors import Conflict, Forbidden, Invalid
from knowledge.facets import selection_of
from knowledge.grace import GRACE, first_opened
from knowledge.queries import where_of
from knowledge.rows import select
from knowledge.search.filters import Where
from knowledge.services.changeset import change_set, require_operator
from knowledge.services.reviewing import rule
from knowledge.times import parse_iso, to_iso
from knowledge.types import (
    PURGE_REASON,
    SOFT_DELETE_REASONS,
    SOURCE_DELETE_REASON,
    Batch,
    Selection,
    TrustTier,
    Verdict,
)
from knowledge.validation import MAX_NAME_CHARS, check_text
from protoconsole.actors import MAINTENANCE, Actor, Role

_SWEEP_BATCH = 500


def review_matching(selection: Selection, verdict: Verdict, by: Actor, *, reason: str | None = None) -> Batch:
    """Rule on every row that a filter matches, as the operator saw it.

    Raises Conflict with the present count where rows have come, gone or changed since; then it rules on none.
    """
    require_operator(by)
    with change_set(by) as work:
        present = selection_of(selection.query)
        if (present.count, present.newest) != (selection.count, selection.newest):
            raise Conflict(
                f"{present.count} rows match now, not {selection.count}: look again before ruling",
                count=present.count,
            )
        rule(work, work.load_lean(where_of(selection.query, work.now)), verdict, reason)
        return work.summary(verdict)


def delete_by_source(source: str, by: Actor) -> Batch:
    """Take every valid row of a source out of use; a grace time allows `restore_by_source`.

    Raises Forbidden, and Invalid for an empty source.
    """
    require_operator(by)
    _refuse_blank("source", source)
    with change_set(by) as work:
        rows = work.load_lean(Where("c.source = ? AND c.invalidated_at IS NULL", (source,)))
        work.update_many(
            rows, "source deleted", invalidated_at=work.now, invalidation_reason=SOURCE_DELETE_REASON
        )
        return work.summary("source deleted")


def restore_by_source(source: str, by: Actor) -> Batch:
    """Bring back what a bulk delete or a purge took of a source, while the rows exist.

    Raises Forbidden, and Invalid for an empty source.
    """
    require_operator(by)
    _refuse_blank("source", source)
    with change_set(by) as work:
        rows = work.load_lean(Where(f"c.source = ? AND {_soft_deleted()}", (source,)))
        work.update_many(rows, "restored", invalidated_at=None, invalidation_reason=None)
        return work.summary("restored")


def purge(domain: str, by: Actor, *, before: str | None = None) -> Batch:
    """Take the valid rows of a domain out of use, sparing what operators wrote or confirmed.

    `before` is an ISO time: only rows created earlier go. Raises Forbidden (neither plugin nor operator) and
    Invalid (an empty domain, an unreadable time).
    """
    if by.role not in (Role.PLUGIN, Role.OPERATOR):
        raise Forbidden("only a plugin or an operator may purge")
    _refuse_blank("domain", domain)
    conditions, params = (
        "c.domain = ? AND c.invalidated_at IS NULL AND COALESCE(c.review_state, '') <> ?",
        [domain],
    )
    params.append(Verdict.CONFIRMED)
    if before is not None:
        conditions += " AND julianday(c.created_at) < julianday(?)"
        params.append(_moment("before", before))
    with change_set(by) as work:
        rows = [
            chunk
            for chunk in work.load_lean(Where(conditions, tuple(params)))
            if chunk.trust_tier is not TrustTier.OPERATOR
        ]
        work.update_many(rows, "purged", invalidated_at=work.now, invalidation_reason=PURGE_REASON)
        return work.summary("purged")


def sweep() -> int:
    """Remove for good what a bulk delete or purge took out of use longer ago than the grace time.

    The grace time runs from the deletion or from our first opening of the store, whichever is later.
    Answers how many rows went; call again while it answers more than none.
    """
    now = timezone.now()
    if now - first_opened() < GRACE:
        return 0
    where = Where(
        f"{_soft_deleted()} AND julianday(c.invalidated_at) <= julianday(?)", (to_iso(now - GRACE),)
    )
    if not select(where, "LIMIT 1", now=to_iso(now)):
        return 0
    with change_set(MAINTENANCE) as work:
        rows = select(where, "ORDER BY c.id LIMIT ?", (_SWEEP_BATCH,), now=work.now)
        work.delete_many(rows, "swept", "the grace time of its deletion is over")
        return len(rows)


def _soft_deleted() -> str:
    reasons = ", ".join(f"'{reason}'" for reason in sorted(SOFT_DELETE_REASONS))
    return f"c.invalidated_at IS NOT NULL AND c.invalidation_reason IN ({reasons})"


def _refuse_blank(field: str, value: str) -> None:
    check_text(field, value, MAX_NAME_CHARS)
    if not value.strip():
        raise Invalid(field, f"is empty; name the {field}, since an empty one would mean everything")


def _moment(field: str, value: str) -> str:
    moment = parse_iso(value)
    if moment is None:
        raise Invalid(field, f"{value!r} is not a time; send ISO 8601, e.g. 2026-06-01T00:00:00Z")
    return to_iso(moment)
