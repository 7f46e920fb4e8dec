"""Projections as the composer makes them, and turns that are recorded with them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from knowledge.types import TrustTier, Verdict
from memory.injections.record import record
from memory.types import Budget, Delivered, LeftOut, Part, Projection, Ref, Section

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
FORUM = "https://forum.example.net/t/441"


def always_on(ref: Ref, words: str, rank: int = 1) -> Delivered:
    return Delivered(Part.ALWAYS_ON, ref, rank, words, None, TrustTier.OPERATOR, Verdict.CONFIRMED)


def hit(ref: Ref, words: str, rank: int = 1, source: str | None = FORUM) -> Delivered:
    return Delivered(Part.HITS, ref, rank, words, 0.75, TrustTier.EXTERNAL, Verdict.PENDING, source)


def told_of(session_id: str, words: str, rank: int = 1) -> Delivered:
    return Delivered(Part.PRIOR_SESSIONS, session_id, rank, words)


def projected(*delivered: Delivered, text: str | None = None, left_out: Sequence[LeftOut] = ()) -> Projection:
    """Put entries between the tags of a projection, one line each unless `text` says otherwise."""
    if text is None:
        lines = (item.words for item in delivered)
        text = "\n".join(("<injected_memory>", "Reference data.", *lines, "</injected_memory>"))
    return Projection(
        text=text,
        sections=[Section(Part.HITS, len(text), truncated=False)],
        delivered=delivered,
        left_out=left_out,
        sources=[FORUM],
        budget=Budget(16_000, len(text)),
        stage_counts={"effective_top_k": 5, "retrieved": 1, "trust_filtered": 0, "final": 1},
    )


def recorded(projection: Projection, session_id: str = "chat-1", *, minute: int = 0, **more: object) -> int:
    """Record a turn `minute` minutes after noon."""
    known: dict[str, object] = {
        "turn_id": None,
        "key": "agent",
        "model": "small",
        "window": 32_000,
        "query": "what did the forum say?",
        "now": NOON + timedelta(minutes=minute),
    }
    return record(projection, session_id=session_id, **(known | more))  # type: ignore[arg-type]


def recorded_many(count: int) -> list[int]:
    return [recorded(projected(hit(n, f"- [fact] number {n}")), minute=n) for n in range(1, count + 1)]
