"""The words for where a row came from, and that they never claim more trust than its tier."""

from dataclasses import replace

import pytest

from knowledge.origins import Origin, origin_of
from knowledge.trust import tier_of
from knowledge.types import Chunk, Kind, Policy, TrustTier, Verdict

CHUNK = Chunk(
    id=1,
    content="x",
    domain="general",
    heading=None,
    source=None,
    source_type=None,
    finding_type=None,
    namespace=None,
    epoch=None,
    created_at="2026-03-01T00:00:00+00:00",
    updated_at="2026-03-01T00:00:00+00:00",
    invalidated_at=None,
    invalidation_reason=None,
    memory_kind=Kind.NOTE,
    subject=None,
    review_state=Verdict.PENDING,
    expires_at=None,
    delivery_policy=Policy.RETRIEVED,
    trust_tier=TrustTier.EXTERNAL,
    expired=False,
)


@pytest.mark.parametrize(
    ("source_type", "source", "words"),
    [
        ("conversation", "chat-7f3a", "written by an agent in session"),
        ("Conversation ", "chat-7f3a", "written by an agent in session"),
        ("conversation", None, "written by an agent outside any session"),
        ("extracted", "chat-1", "fact drawn from session"),
        ("html", "https://example.org", "html import of"),
        ("pdf", "", "pdf import without a source"),
        ("manual", None, "entered by hand by an operator"),
        ("smoke", "x", "third party, unknown path 'smoke', from"),
        (None, None, "third party, unknown path"),
        (None, "x", "third party, unknown path, from"),
    ],
)
def test_words(source_type: str | None, source: str | None, words: str) -> None:
    chunk = replace(CHUNK, source_type=source_type, source=source)
    assert origin_of(chunk) == Origin(words, source or None)


@pytest.mark.parametrize("source_type", ["operators", "operator!", "0perator", "agent", "", "\u200boperator"])
def test_an_unknown_path_never_reads_as_trusted(source_type: str) -> None:
    assert tier_of(source_type) is TrustTier.EXTERNAL
    assert origin_of(replace(CHUNK, source_type=source_type)).words.startswith("third party, unknown path")
