"""What gives way when a projection is too large, for parts of any size."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.types import TrustTier, Verdict
from memory.envelope.parse import parse
from memory.projection import project
from memory.types import (
    Candidates,
    MemoryCandidate,
    Options,
    Part,
    PlaybookCandidate,
    Projection,
    SessionCandidate,
    Task,
    WorkingState,
)

SHED_ORDER = (Part.HITS, Part.PRIOR_SESSIONS, Part.AVAILABLE_SKILLS)
NEVER_SHED = (Part.ALWAYS_ON, Part.WORKING_STATE)
ROOMY = Options(window=50_000, top_k=100, preview_chars=4_000, max_sessions=50, max_session_tokens=10_000)

lengths = st.integers(1, 4_000)


def sized(most: int) -> st.SearchStrategy[list[int]]:
    return st.lists(lengths, max_size=most)


def candidates_of(
    hits: list[int], always_on: list[int], sessions: list[int], playbooks: list[int], tasks: list[int]
) -> Candidates:
    return Candidates(
        sessions=[
            SessionCandidate(f"chat-{n}", "2026", "chat", "t" * size, 1) for n, size in enumerate(sessions)
        ],
        always_on=[row(n, size) for n, size in enumerate(always_on)],
        hits=[row(100 + n, size) for n, size in enumerate(hits)],
        playbooks=[PlaybookCandidate(f"p{n}", "d" * size) for n, size in enumerate(playbooks)],
        working_state=WorkingState(
            tasks=[Task(f"t{n}", "", "", "w" * size, "") for n, size in enumerate(tasks)]
        ),
    )


def row(ref: int, size: int) -> MemoryCandidate:
    tier = TrustTier(1 + size % 3)
    return MemoryCandidate(ref, None, "m" * size, "fact", "2026-01-01", tier, Verdict.PENDING, None)


candidates = st.builds(candidates_of, sized(8), sized(3), sized(8), sized(8), sized(5))


def described(projection: Projection) -> list[object]:
    return [e.ref for e in projection.delivered if e.part is Part.AVAILABLE_SKILLS and " · " in e.words]


def told(projection: Projection) -> set[tuple[Part, object]]:
    """Everything that a projection says: entries, and descriptions on their own."""
    entries = {(entry.part, entry.ref) for entry in projection.delivered}
    return entries | {(Part.AVAILABLE_SKILLS, f"description of {ref}") for ref in described(projection)}


@settings(deadline=None)
@given(candidates)
def test_it_is_never_over_the_ceiling_unless_only_what_is_never_shed_remains(many):
    projection = project(many, ROOMY)
    used, ceiling = projection.budget.used_chars, projection.budget.ceiling_chars
    assert used == len(projection.text)
    assert ceiling == 16_000
    if used > ceiling:
        assert projection.ids(Part.HITS) == projection.ids(Part.PRIOR_SESSIONS) == described(projection) == []


@settings(deadline=None)
@given(candidates)
def test_parts_give_way_in_their_order_each_from_the_end(many):
    projection, whole = project(many, ROOMY), project(many, replace(ROOMY, budget_pct=0))
    left = {
        Part.HITS: projection.ids(Part.HITS),
        Part.PRIOR_SESSIONS: projection.ids(Part.PRIOR_SESSIONS),
        Part.AVAILABLE_SKILLS: described(projection),
    }
    before = {
        Part.HITS: whole.ids(Part.HITS),
        Part.PRIOR_SESSIONS: whole.ids(Part.PRIOR_SESSIONS),
        Part.AVAILABLE_SKILLS: described(whole),
    }
    for earlier, later in pairwise(SHED_ORDER):
        assert left[earlier] == [] or left[later] == before[later]
    for part in SHED_ORDER:
        assert left[part] == before[part][: len(left[part])]
    for part in NEVER_SHED:
        assert projection.ids(part) == whole.ids(part)
    assert projection.ids(Part.AVAILABLE_SKILLS) == whole.ids(Part.AVAILABLE_SKILLS)


@settings(deadline=None)
@given(candidates)
def test_no_more_is_given_up_than_must_be(many):
    """With the last thing given up put back, the text would be too large."""
    projection, whole = project(many, ROOMY), project(many, replace(ROOMY, budget_pct=0))
    if not projection.budget.overflow:
        assert projection.text == whole.text
        return
    last = projection.budget.overflow[-1]
    largest = max(len(entry.words) for entry in whole.delivered if entry.part is last.label)
    frame = 600  # more than the fixed lines of a part and the envelope
    assert projection.budget.used_chars + largest + frame > 16_000


@settings(deadline=None)
@given(candidates)
def test_the_overflow_adds_up_and_the_text_still_reads_back(many):
    projection, whole = project(many, ROOMY), project(many, replace(ROOMY, budget_pct=0))
    dropped = sum(shed.dropped_chars for shed in projection.budget.overflow)
    assert whole.budget.used_chars - dropped == projection.budget.used_chars
    gone = len(told(whole)) - len(told(projection))
    assert gone == sum(shed.dropped_items for shed in projection.budget.overflow)
    entries = [(entry.part, entry.words) for entry in parse(projection.text).entries]
    assert entries == [(entry.part, entry.words) for entry in projection.delivered]
    shed = {section.label for section in projection.sections if section.truncated}
    assert shed == {item.label for item in projection.budget.overflow}


@settings(deadline=None)
@given(candidates, st.floats(0.1, 100), st.floats(0.1, 100))
def test_a_larger_share_of_the_window_never_takes_anything_away(many, one, other):
    small, large = (project(many, replace(ROOMY, budget_pct=pct)) for pct in sorted((one, other)))
    assert told(small) <= told(large)


@settings(deadline=None)
@given(candidates)
def test_every_candidate_is_delivered_or_left_out_once(many):
    projection = project(many, ROOMY)
    for part, refs in {
        Part.PRIOR_SESSIONS: [session.session_id for session in many.sessions],
        Part.ALWAYS_ON: [each.ref for each in many.always_on],
        Part.HITS: [each.ref for each in many.hits],
        Part.WORKING_STATE: [task.id for task in many.working_state.tasks],
    }.items():
        left_out = [item.ref for item in projection.left_out if item.part is part]
        assert sorted([*projection.ids(part), *left_out], key=str) == sorted(refs, key=str)


@settings(deadline=None)
@given(candidates)
def test_the_same_input_gives_the_same_record(many):
    assert project(many, ROOMY) == project(many, ROOMY)
