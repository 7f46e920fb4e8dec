"""Candidates with ordinary values, to change one at a time."""

from knowledge.types import TrustTier, Verdict
from memory.types import MemoryCandidate, PlaybookCandidate, Ref, SessionCandidate

DAY = "2026-03-02"


def memory(
    ref: Ref,
    content: str = "The cluster has three nodes",
    *,
    heading: str | None = None,
    domain: str = "fact",
    tier: TrustTier = TrustTier.AGENT,
    source: str | None = None,
    stored: str = DAY,
) -> MemoryCandidate:
    return MemoryCandidate(ref, heading, content, domain, stored, tier, Verdict.PENDING, source, 1.0)


def session(session_id: str, topic: str = "Rotate the certificates", messages: int = 3) -> SessionCandidate:
    return SessionCandidate(session_id, "2026-04-01T09:00:00+00:00", "chat", topic, messages)


def playbook(name: str, description: str = "How to ship", slash: str = "") -> PlaybookCandidate:
    return PlaybookCandidate(name, description, slash)
