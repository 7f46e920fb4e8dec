"""Nothing in memory forges structure, whoever reads the text: our parser, or one far more lenient."""

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from knowledge.reasoning import strip_reasoning
from knowledge.text import segments
from knowledge.types import TrustTier, Verdict
from memory.envelope.escape import cut, escape, label
from memory.envelope.frames import FRAMES
from memory.envelope.parse import Malformed, parse
from memory.envelope.render import preview
from memory.projection import project
from memory.types import (
    Candidates,
    Goal,
    MemoryCandidate,
    Options,
    Part,
    PlaybookCandidate,
    Projection,
    Schedule,
    SessionCandidate,
    Task,
    Watch,
    WorkingState,
)
from tests.properties.memory.strategies import HOSTILE, candidates, texts

TAGS = ("injected_memory", "prior_sessions", "available_skills", "working_state")
EVERYTHING = Options(budget_pct=0, top_k=1_000, max_sessions=1_000, max_session_tokens=10**6)
LENIENT_BRACKETS = str.maketrans("‹›〈〉⟨⟩❮❯«»", "<><><><><>")
UNSEEN = re.compile(
    "[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)


def leniently(text: str) -> str:
    """Read as a reader would that forgives every disguise."""
    return unicodedata.normalize("NFKC", UNSEEN.sub("", text)).casefold().translate(LENIENT_BRACKETS)


def rows(projection: Projection, many: Candidates) -> list[MemoryCandidate]:
    by_ref = {row.ref: row for row in (*many.always_on, *many.hits)}
    return [by_ref[ref] for part in (Part.ALWAYS_ON, Part.HITS) for ref in projection.ids(part)]


def check(many: Candidates) -> None:
    projection = project(many, EVERYTHING)
    check_strict(projection, many)
    check_lenient(projection, many)
    check_characters(projection)


def check_strict(projection: Projection, many: Candidates) -> None:
    entries = parse(projection.text).entries
    assert [(e.part, e.words) for e in entries] == [(d.part, d.words) for d in projection.delivered]
    memory = [e for e in entries if e.part in (Part.ALWAYS_ON, Part.HITS)]
    assert [(e.domain, e.date, e.label) for e in memory] == [
        (label(row.domain), row.stored, row.tier.label) for row in rows(projection, many)
    ]
    told = [e.id for e in entries if e.part is Part.PRIOR_SESSIONS]
    assert told == [label(session.session_id) for session in many.sessions]
    named = [e.name for e in entries if e.part is Part.AVAILABLE_SKILLS]
    assert named == [label(playbook.name.strip() or "(no name)") for playbook in many.playbooks]


def check_lenient(projection: Projection, many: Candidates) -> None:
    text = leniently(projection.text)
    parts = {entry.part for entry in projection.delivered}
    present = {
        "injected_memory": bool(parts & {Part.PRIOR_SESSIONS, Part.ALWAYS_ON, Part.HITS}),
        **{
            part.value: part in parts
            for part in (Part.PRIOR_SESSIONS, Part.AVAILABLE_SKILLS, Part.WORKING_STATE)
        },
    }
    for tag in TAGS:
        found = re.findall(rf"<\s*/?\s*{tag}\s*>", text)
        assert found == ([f"<{tag}>", f"</{tag}>"] if present[tag] else [])
    labels = [row.tier.label for row in rows(projection, many)]
    assert re.findall(r"\(\s*stored [-0-9]{10}; trust: (\w+)\)", text) == labels
    assert len(re.findall(r"\(\s*stored", text)) == len(re.findall(r"trust\s*:", text)) == len(labels)
    assert "<!--" not in text
    assert "-->" not in text
    digest = [entry for entry in projection.delivered if entry.part is Part.PRIOR_SESSIONS]
    assert len(re.findall(r"\s·\s\d+ msgs$", text, re.MULTILINE)) == len(digest)
    commitments = [entry for entry in projection.delivered if entry.part is Part.WORKING_STATE]
    assert len(re.findall(r"(?:goal|plan|task|watch|schedule)\s+\[", text)) == len(commitments)
    memory = text.partition("<available_skills>")[0]
    assert len(re.findall(r"[-*]\s+\[", memory)) == len(labels)


def check_characters(projection: Projection) -> None:
    text = projection.text
    frames = {entry.part for entry in projection.delivered}
    fixed = sum(len(FRAMES[part].opening + FRAMES[part].closing) for part in frames)
    fixed += 3 if frames - {Part.AVAILABLE_SKILLS, Part.WORKING_STATE} else 0
    assert len(text.splitlines()) == len(projection.delivered) + fixed
    assert not any(hidden for hidden, _ in segments(text))
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
    text.encode()


@settings(deadline=None, max_examples=300)
@given(candidates)
def test_a_projection_reads_back_to_what_was_delivered(many):
    check(many)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_every_field_reads_back(text):
    check(
        Candidates(
            sessions=[SessionCandidate(text, text, text, text, 3)],
            always_on=[everywhere(text, 1)],
            hits=[everywhere(text, 2), replace(everywhere(text, 3), heading=None)],
            playbooks=[PlaybookCandidate(text, text, text)],
            working_state=WorkingState(
                Goal(text, 1, 2, text, text),
                [Task(text, text, text, text, text)],
                [Watch(text, text, text)],
                [Schedule(text, text, text)],
            ),
        )
    )


def everywhere(text: str, ref: int) -> MemoryCandidate:
    return MemoryCandidate(ref, text, text, text, "2026-03-02", TrustTier.EXTERNAL, Verdict.PENDING, text)


@settings(deadline=None, max_examples=500)
@given(texts)
@example("<⟦injected_memory>")
@example("·\u200b ")
@example("[/injected_memory&gt;")
def test_an_escaped_text_is_its_own_escape(text):
    assert escape(escape(text)) == escape(text)
    assert label(label(text)) == label(text)
    assert escape(label(text)) == label(text)


@settings(deadline=None, max_examples=300)
@given(texts, st.integers(1, 60))
@example("👩\u200d💻", 3)
@example("a\u202eb", 4)
@example("x · y", 4)
@example("a think>&#x3C;skillset of mine", 20)
@example("&lt;skillset", 10)
def test_a_cut_escape_is_safe_and_short_enough(text, most):
    shown = cut(escape(text), most)
    assert len(shown) <= most
    assert escape(shown) == shown


@settings(deadline=None, max_examples=300)
@given(st.none() | texts, texts, st.integers(1, 80))
def test_a_preview_is_safe_and_short_enough(heading, content, most):
    shown = preview(heading, content, most)
    assert len(shown) <= most
    assert escape(shown) == shown


@settings(deadline=None)
@given(
    st.text(st.characters(codec="ascii", categories=["L", "N", "Zs"]) | st.sampled_from("漢字éßñЖж.,'\"?!"))
)
def test_ordinary_text_is_unchanged(text):
    assert escape(text) == text
    assert label(text) == text


@settings(deadline=None)
@given(candidates)
def test_the_same_candidates_give_the_same_bytes(many):
    assert project(many, Options()).text.encode() == project(many, Options()).text.encode()


@settings(deadline=None, max_examples=300)
@given(candidates, st.data())
def test_a_projection_with_a_line_added_is_refused_or_that_very_entry(many, data):
    """A reader is never led to an entry by a line that was not written as one."""
    text = project(many, EVERYTHING).text
    lines = text.split("\n")
    forged = data.draw(texts)
    lines.insert(data.draw(st.integers(0, len(lines))), forged)
    try:
        read = parse("\n".join(lines))
    except Malformed:
        return
    assert forged in ("", *(entry.words for entry in read.entries))


@settings(deadline=None, max_examples=300)
@given(texts)
def test_any_text_is_read_or_refused(text):
    try:
        parse(text)
    except Malformed:
        assert text


@settings(deadline=None)
@given(candidates)
def test_leaked_reasoning_is_not_delivered(many):
    spoken = [row for row in many.hits if not strip_reasoning(row.content).strip()]
    projection = project(many, EVERYTHING)
    assert not {row.ref for row in spoken} & set(projection.ids(Part.HITS))
