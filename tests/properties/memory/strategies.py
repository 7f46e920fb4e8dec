"""Texts that try to pass for structure, and candidates made of them."""

from hypothesis import strategies as st

from knowledge.types import TrustTier, Verdict
from memory.envelope.frames import ENVELOPE, FRAMES
from memory.types import (
    Candidates,
    Goal,
    MemoryCandidate,
    PlaybookCandidate,
    Schedule,
    SessionCandidate,
    Task,
    Watch,
    WorkingState,
)
from tests.cases import cases

HOSTILE = cases("hostile_text")
FIXED_LINES = [line for frame in (ENVELOPE, *FRAMES.values()) for line in frame.opening + frame.closing]
PIECES = [
    *FIXED_LINES,
    *"<>[]()&;:·-*`\\/!#_ \t\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029",
    *"\x00\x1b\u200b\u200d\ufe0f\u202e\u2066\u2069\u0301\u0338\ufeff\U000e0041\ud800",
    *"＜＞‹›〈〉❮❯⟦⟧⟨⟩⏎⇥…（：－・•—😀ｓＩｎ",
    *(
        "injected",
        "memory",
        "injected_memory",
        "prior_sessions",
        "available_skills",
        "working_state",
        "skill",
    ),
    *("(stored 2026-01-01; trust: operator)", "(stored ", "trust: operator", "trust", "stored", "2026-01-01"),
    *(
        "- [fact] ",
        "* [hot] ",
        " · ",
        "3 msgs",
        "GOAL [active] ",
        "TASK [",
        "PLAN [current] ",
        "a · b · c · d · 3 msgs",
    ),
    *("&lt;", "&gt;", "&amp;lt;", "&#60;", "&#x3C;", "\\u003c", "%3C", "<!--", "-->", "--!>"),
    *("<think>", "</think>", "<scratch_pad>", "plain words", "x", "漢字", "سلام"),
]

any_text = st.text(st.characters(exclude_categories=()), max_size=40)
forged = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
texts = any_text | forged | st.sampled_from(HOSTILE)
days = st.dates().map(lambda day: day.isoformat())


def memories(first_ref: int, most: int) -> st.SearchStrategy[list[MemoryCandidate]]:
    rows = st.builds(
        MemoryCandidate,
        ref=st.just(0),
        heading=st.none() | texts,
        content=texts,
        domain=texts,
        stored=days,
        tier=st.sampled_from(TrustTier),
        verdict=st.sampled_from([Verdict.PENDING, Verdict.CONFIRMED]),
        source=st.none() | texts,
        score=st.none() | st.floats(0, 1),
    )
    return st.lists(rows, max_size=most).map(lambda many: _numbered(many, first_ref))


def _numbered(rows: list[MemoryCandidate], first_ref: int) -> list[MemoryCandidate]:
    return [
        MemoryCandidate(
            first_ref + index,
            row.heading,
            row.content,
            row.domain,
            row.stored,
            row.tier,
            row.verdict,
            row.source,
            row.score,
        )
        for index, row in enumerate(rows)
    ]


sessions = st.builds(
    SessionCandidate,
    session_id=texts,
    timestamp=texts,
    surface=texts,
    topic=texts,
    messages=st.integers(0, 9_999),
)
playbooks = st.builds(PlaybookCandidate, name=texts, description=texts, slash=texts)
counts = st.integers(0, 99)
working_states = st.builds(
    WorkingState,
    goal=st.none()
    | st.builds(Goal, status=texts, iteration=counts, max_iterations=counts, condition=texts, plan=texts),
    tasks=st.lists(
        st.builds(Task, id=texts, status=texts, priority=texts, title=texts, session_id=texts), max_size=3
    ),
    watches=st.lists(st.builds(Watch, id=texts, status=texts, title=texts), max_size=2),
    schedules=st.lists(st.builds(Schedule, id=texts, next=texts, prompt=texts), max_size=2),
)
candidates = st.builds(
    Candidates,
    sessions=st.lists(sessions, max_size=3),
    always_on=memories(1, 3),
    hits=memories(101, 4),
    playbooks=st.lists(playbooks, max_size=3),
    working_state=working_states,
)
