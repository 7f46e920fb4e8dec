"""Which other sessions a prompt names (SPEC 8), and what an agent finds when it looks for more of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connections
from django.utils import timezone

from knowledge.errors import SearchBroken
from knowledge.search.words import query_words, snippet
from memory import session_index, session_search, summaries
from memory.models import IndexedSession
from memory.projection import project
from memory.types import (
    Absence,
    Candidates,
    DigestPolicy,
    Options,
    Part,
    Ref,
    SessionCandidate,
    SessionHit,
    Summary,
    Unreadable,
)
from protoconsole.databases import CONSOLE
from protoconsole.instance import current

OTHERS_CHANGES_SHOW_WITHIN = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class _Cached:
    sessions: Sequence[SessionCandidate]
    version: int
    followed_at: datetime

    def is_fresh(self, now: datetime) -> bool:
        return timedelta(0) <= now - self.followed_at < OTHERS_CHANGES_SHOW_WITHIN


_cache: dict[tuple[str, int], _Cached] = {}


def candidates(
    policy: DigestPolicy | str, active_session: str | None, query: str, *, max_sessions: int
) -> list[SessionCandidate]:
    """Return the sessions that the digest of a turn names, in its order.

    The active session is left out before the cut, so the list is as long as it can be. Background sessions
    and unreadable ones are never in it.
    """
    policy = DigestPolicy(policy)
    if policy is DigestPolicy.OFF or max_sessions <= 0:
        return []
    relevant = _relevant(query, active_session, max_sessions) if policy is DigestPolicy.RELEVANT else []
    return relevant or _newest(active_session, max_sessions)


def absences(
    sessions: Iterable[IndexedSession], active_session: str | None = None
) -> Mapping[str, Absence | None]:
    """Say of each session why the next digest will not name it, None where it will."""
    config = current().config
    policy = DigestPolicy(config.context.prior_sessions if config.middleware.knowledge else DigestPolicy.OFF)
    fits = _fits(active_session)
    return {row.session_id: _absence(row, policy, fits, active_session) for row in sessions}


def why_not_in_digest(session_id: str, active_session: str | None = None) -> Absence | None:
    """Say why the next digest will not name a session, None where it will or where there is no such session."""
    row = session_index.find(session_id)
    return absences([row], active_session)[session_id] if row else None


def search(query: str, k: int) -> list[SessionHit]:
    """Find the k sessions that share most words with a query, best first, with the words around the match.

    Raises SearchBroken when the index cannot answer.
    """
    session_index.sync()
    words = query_words(query)
    hits = []
    for row in session_search.search(query, k):
        summary = read(row.session_id)
        if isinstance(summary, Summary):
            hits.append(SessionHit(row.candidate, snippet(_transcript(summary), words)))
    return hits


def read(session_id: str) -> Summary | Unreadable | None:
    """Read the summary of a session, None where it has none; raise Invalid for what is no session id."""
    return summaries.read(session_id)


def _relevant(query: str, active_session: str | None, most: int) -> list[SessionCandidate]:
    session_index.sync()
    if not session_search.stemmed():
        return []
    try:
        found = session_search.search(query, most, without=active_session or "", background=False)
    except SearchBroken:  # a turn is told the newest sessions rather than none
        return []
    return [row.candidate for row in found]


def _newest(active_session: str | None, most: int) -> list[SessionCandidate]:
    others = [session for session in _cached(most + 1) if session.session_id != active_session]
    return others[:most]


def _cached(limit: int) -> Sequence[SessionCandidate]:
    """Return the newest sessions, from memory while no process of ours has changed any of them."""
    key = (str(connections[CONSOLE].settings_dict["NAME"]), limit)
    now = timezone.now()
    kept = _cache.get(key)
    if kept is None or not kept.is_fresh(now):
        session_index.sync()
        kept = _cache[key] = _read(limit, followed_at=now)
    elif kept.version != session_index.version():
        kept = _cache[key] = _read(limit, followed_at=kept.followed_at)
    return kept.sessions


def _read(limit: int, followed_at: datetime) -> _Cached:
    version = session_index.version()  # before the rows: a change in between is seen again, never missed
    return _Cached([row.candidate for row in session_index.newest(limit)], version, followed_at)


def _fits(active_session: str | None) -> Mapping[Ref, bool]:
    """Say of the newest sessions whether the room of a digest is enough for them."""
    limits = current().config.memory
    newest = candidates(DigestPolicy.NEWEST, active_session, "", max_sessions=limits.max_sessions)
    options = Options(max_sessions=limits.max_sessions, max_session_tokens=limits.max_tokens)
    told = project(Candidates(sessions=newest), options).ids(Part.PRIOR_SESSIONS)
    return {session.session_id: session.session_id in told for session in newest}


def _absence(
    row: IndexedSession, policy: DigestPolicy, fits: Mapping[Ref, bool], active_session: str | None
) -> Absence | None:
    reasons = (
        (Absence.OFF, policy is DigestPolicy.OFF),
        (Absence.UNREADABLE, not row.readable),
        (Absence.BACKGROUND, row.background),
        (Absence.ACTIVE, row.session_id == active_session),
        (Absence.WHEN_RELEVANT, policy is DigestPolicy.RELEVANT),
        (Absence.BEYOND, row.session_id not in fits),
        (Absence.NO_ROOM, not fits.get(row.session_id)),
    )
    return next((reason for reason, holds in reasons if holds), None)


def _transcript(summary: Summary) -> str:
    return "\n".join(message.content for message in summary.messages) or summary.final_output
