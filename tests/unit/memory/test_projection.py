from dataclasses import replace

import pytest

from knowledge.types import TrustTier
from memory.projection import project
from memory.types import Candidates, Goal, LeftOut, Options, Part, Reason, Section, Shed, Task, WorkingState
from tests.unit.memory.build import memory, playbook, session

FULL = Candidates(
    sessions=[session("chat-1"), session("chat-2")],
    always_on=[memory(1, heading="ops", source="chat-9"), memory(2, domain="hot", source="chat-9")],
    hits=[memory(3, source="https://a"), memory(4, tier=TrustTier.OPERATOR, source="https://b")],
    playbooks=[playbook("ship", slash="/ship"), playbook("review")],
    working_state=WorkingState(Goal("active", 0, 0, "Ship", "")),
)


def reasons(candidates: Candidates, options: Options, part: Part) -> dict[object, Reason]:
    return {item.ref: item.reason for item in project(candidates, options).left_out if item.part is part}


def test_nothing_to_say_gives_the_empty_text():
    projection = project(Candidates(), Options(window=128_000))
    assert projection.text == ""
    assert (projection.sections, projection.delivered, projection.left_out) == ([], [], [])
    assert projection.budget.used_chars == 0


def test_the_parts_stand_in_their_order():
    text = project(FULL, Options()).text.split("\n")
    assert text[0] == "<injected_memory>"
    assert text[2] == "<prior_sessions>"
    assert text[4:7] == [
        "chat-1 · 2026-04-01T09:00:00+00:00 · chat · Rotate the certificates · 3 msgs",
        "chat-2 · 2026-04-01T09:00:00+00:00 · chat · Rotate the certificates · 3 msgs",
        "</prior_sessions>",
    ]
    assert text[8:10] == [
        "* [fact] [ops] The cluster has three nodes (stored 2026-03-02; trust: agent)",
        "* [hot] The cluster has three nodes (stored 2026-03-02; trust: agent)",
    ]
    assert text[11:15] == [
        "- [fact] The cluster has three nodes (stored 2026-03-02; trust: operator)",
        "- [fact] The cluster has three nodes (stored 2026-03-02; trust: agent)",
        "</injected_memory>",
        "<available_skills>",
    ]
    assert text[16:20] == [
        "- ship [/ship] · How to ship",
        "- review · How to ship",
        "</available_skills>",
        "<working_state>",
    ]
    assert text[21:] == ["GOAL [active] Ship", "</working_state>"]


def test_the_record_names_what_was_delivered_in_the_words_of_the_text():
    projection = project(FULL, Options())
    assert projection.ids(Part.PRIOR_SESSIONS) == ["chat-1", "chat-2"]
    assert projection.ids(Part.ALWAYS_ON) == [1, 2]
    assert projection.ids(Part.HITS) == [4, 3]
    assert [entry.rank for entry in projection.delivered] == [1, 2, 1, 2, 1, 2, 1, 2, 1]
    assert all(entry.words in projection.text.split("\n") for entry in projection.delivered)
    assert projection.sources == ["chat-9", "https://b", "https://a"]
    assert projection.budget.used_chars == len(projection.text)


def test_sections_tell_their_characters():
    always_on = project(replace(FULL, sessions=(), hits=(), playbooks=()), Options()).sections[0]
    shown = "Kept in view on every turn, newest first:\n"
    rows = "* [fact] [ops] The cluster has three nodes (stored 2026-03-02; trust: agent)\n"
    rows += "* [hot] The cluster has three nodes (stored 2026-03-02; trust: agent)"
    assert always_on == Section(Part.ALWAYS_ON, len(shown + rows), truncated=False)


def test_the_newest_hundred_always_on_rows_enter():
    rows = [memory(ref, "x") for ref in range(101)]
    projection = project(Candidates(always_on=rows), Options())
    assert projection.ids(Part.ALWAYS_ON) == list(range(100))
    assert projection.left_out == [LeftOut(Part.ALWAYS_ON, 100, Reason.CAP)]


def test_always_on_rows_stop_at_the_first_beyond_six_thousand_characters():
    rows = [memory(1, "x" * 2_994, heading="abc"), memory(2, "x" * 3_000), memory(3, "x"), memory(4, "")]
    assert project(Candidates(always_on=rows[:2]), Options()).ids(Part.ALWAYS_ON) == [1, 2]  # 3,000 each
    assert reasons(Candidates(always_on=[memory(0, "y"), *rows]), Options(), Part.ALWAYS_ON) == {
        2: Reason.CAP,
        3: Reason.CAP,
        4: Reason.EMPTY,
    }


def test_the_digest_has_at_most_max_sessions_lines():
    many = Candidates(sessions=[session(f"chat-{n}") for n in range(12)])
    projection = project(many, Options())
    assert projection.ids(Part.PRIOR_SESSIONS) == [f"chat-{n}" for n in range(10)]
    assert [item.ref for item in projection.left_out] == ["chat-10", "chat-11"]
    assert project(many, Options(max_sessions=0)).text == ""


def test_the_digest_with_its_frame_stays_within_its_tokens():
    many = Candidates(sessions=[session(f"chat-{n}", "t" * 80) for n in range(10)])
    projection = project(many, Options(max_session_tokens=200))
    frame = len(
        "<prior_sessions>\nOther, separate sessions. recall_session opens one by its id.\n</prior_sessions>"
    )
    line = len(f"\nchat-0 · 2026-04-01T09:00:00+00:00 · chat · {'t' * 80} · 3 msgs")
    assert len(projection.ids(Part.PRIOR_SESSIONS)) == (800 - frame) // line == 5
    assert projection.sections[0].chars == frame + 5 * line


def test_a_digest_of_exactly_its_tokens_is_whole():
    frame = (
        "<prior_sessions>\nOther, separate sessions. recall_session opens one by its id.\n</prior_sessions>"
    )
    start = "\nc · 2026-04-01T09:00:00+00:00 · chat ·  · 3 msgs"
    one = Candidates(sessions=[session("c", "t" * (400 - len(frame + start)))])
    assert project(one, Options(max_session_tokens=100)).sections == [
        Section(Part.PRIOR_SESSIONS, 400, truncated=False)
    ]
    assert project(one, Options(max_session_tokens=99)).text == ""


def test_a_goal_turn_has_no_digest():
    projection = project(FULL, Options(goal_turn=True))
    assert "prior_sessions" not in projection.text
    assert projection.ids(Part.ALWAYS_ON) == [1, 2]
    assert [item.reason for item in projection.left_out] == [Reason.GOAL_TURN] * 2


@pytest.mark.parametrize(
    ("options", "why"),
    [(Options(incognito=True), Reason.INCOGNITO), (Options(memory_on=False), Reason.MEMORY_OFF)],
)
def test_a_turn_without_memory_has_playbooks_and_working_state_only(options, why):
    projection = project(FULL, options)
    assert [section.label for section in projection.sections] == [Part.AVAILABLE_SKILLS, Part.WORKING_STATE]
    assert projection.text.startswith("<available_skills>")
    assert {item.reason for item in projection.left_out} == {why}
    assert [item.ref for item in projection.left_out] == ["chat-1", "chat-2", 1, 2, 3, 4]
    assert set(projection.stage_counts.values()) == {0}
    assert projection.sources == []


def test_hits_pass_the_floor_then_the_count_then_are_sorted_by_tier():
    external, agent, operator = TrustTier
    hits = [
        memory(10, tier=external),
        memory(11, tier=agent),
        memory(1, tier=operator),
        memory(12, tier=agent),
        memory(13, tier=operator),
        memory(14, tier=operator),
    ]
    candidates = Candidates(always_on=[memory(1)], hits=hits)
    projection = project(candidates, Options(top_k=3, min_trust=agent))
    assert projection.ids(Part.HITS) == [13, 11, 12]
    assert [(item.ref, item.reason) for item in projection.left_out] == [
        (10, Reason.TRUST_FLOOR),
        (1, Reason.DUPLICATE),
        (14, Reason.CAP),
    ]
    assert projection.stage_counts == {"effective_top_k": 3, "retrieved": 6, "trust_filtered": 1, "final": 3}


def test_an_always_on_row_that_did_not_fit_may_be_found():
    long = memory(1, "x" * 6_001)
    projection = project(Candidates(always_on=[long], hits=[long]), Options())
    assert (projection.ids(Part.ALWAYS_ON), projection.ids(Part.HITS)) == ([], [1])


@pytest.mark.parametrize("top_k", [0, -1])
def test_no_hits_where_none_are_asked_for(top_k):
    projection = project(FULL, Options(top_k=top_k))
    assert projection.ids(Part.HITS) == []
    assert projection.stage_counts["effective_top_k"] == 0


def test_a_preview_is_heading_and_content_cut_with_a_mark():
    hits = [memory(1, "c" * 20, heading="ops"), memory(2, "c" * 5, heading="ops")]
    text = project(Candidates(hits=hits), Options(preview_chars=10)).text
    assert "- [fact] ops: cccc… (stored" in text
    assert "- [fact] ops: ccccc (stored" in text


def test_a_long_preview_is_cut_to_its_length_whatever_it_hides():
    long = memory(1, "\r\n" * 900 + "\u202e" * 9_000)
    words = project(Candidates(hits=[long]), Options()).delivered[0].words
    shown = words.removeprefix("- [fact] ").removesuffix(" (stored 2026-03-02; trust: agent)")
    assert 990 <= len(shown) <= 1_000
    assert shown.endswith("…")


def test_leaked_reasoning_is_taken_out_and_a_row_of_nothing_else_left_out():
    hits = [memory(1, "<think>secret</think>Ship on Tuesday", heading="<think>x"), memory(2, "<think>secret")]
    projection = project(Candidates(hits=hits), Options())
    assert "- [fact] Ship on Tuesday (stored" in projection.text
    assert projection.left_out == [LeftOut(Part.HITS, 2, Reason.EMPTY)]


def test_a_day_that_is_none_is_told_as_unknown():
    assert (
        "(stored unknown; trust: agent)"
        in project(Candidates(hits=[memory(1, stored="soon")]), Options()).text
    )


def test_descriptions_end_with_the_rows_that_may_have_one():
    many = Candidates(playbooks=[playbook(f"p{n}") for n in range(4)])
    text = project(many, Options(skills_top_k=2)).text
    assert "- p0 · How to ship\n- p1 · How to ship\n- p2\n- p3\n" in text


def test_descriptions_end_with_the_characters_of_the_list_and_no_name_does():
    many = Candidates(playbooks=[playbook(f"p{n}", "d" * 200) for n in range(9)])
    frame = len("<available_skills>\nPlaybooks. load_skill opens one by its name.\n</available_skills>")
    names, described = 9 * len("\n- p0"), len(" · ") + 200
    assert (640 - frame - names) // described == 2
    projection = project(many, Options(window=8_000))  # 640 characters
    assert projection.ids(Part.AVAILABLE_SKILLS) == [f"p{n}" for n in range(9)]
    assert projection.sections[0].chars == frame + names + 2 * described
    assert projection.text.count(" · ") == 2


def test_what_a_read_refused_is_listed_too():
    refused = [LeftOut(Part.HITS, 7, Reason.REJECTED)]
    assert project(Candidates(refused=refused), Options()).left_out == refused


SMALL_WINDOW = Options(window=8_000, top_k=100, preview_chars=2_000, max_session_tokens=10_000)


def filler(used: int) -> WorkingState:
    """A working state that makes a text of so many characters; it is never shed."""
    frame = (
        "<working_state>\nYour own open commitments, as you last reported them.\nTASK [t] \n</working_state>"
    )
    return WorkingState(tasks=[Task("t", "", "", "w" * (used - len(frame)), "")])


def test_a_text_of_exactly_the_ceiling_is_whole():
    projection = project(Candidates(working_state=filler(16_000)), SMALL_WINDOW)
    assert projection.budget.used_chars == 16_000
    assert projection.budget.overflow == []


def test_hits_are_shed_first_and_one_at_a_time_from_the_end():
    hit = f"- [fact] {'x' * 100} (stored 2026-03-02; trust: agent)\n"
    around = project(Candidates(hits=[memory(1, "x" * 100)]), SMALL_WINDOW).budget.used_chars
    hits = [memory(ref, "x" * 100) for ref in range(1, 5)]
    fits_two = filler(16_000 - 1 - around - len(hit))
    projection = project(
        replace(FULL, sessions=(), always_on=(), playbooks=(), hits=hits, working_state=fits_two),
        SMALL_WINDOW,
    )
    assert projection.ids(Part.HITS) == [1, 2]
    assert projection.budget.used_chars == 16_000
    assert projection.budget.overflow == [Shed(Part.HITS, 2, 2 * len(hit))]
    assert projection.left_out == [LeftOut(Part.HITS, ref, Reason.BUDGET) for ref in (3, 4)]
    assert [(section.label, section.truncated) for section in projection.sections] == [
        (Part.HITS, True),
        (Part.WORKING_STATE, False),
    ]
    assert projection.stage_counts["final"] == 2


def test_what_is_never_shed_goes_out_over_the_ceiling():
    projection = project(replace(FULL, working_state=filler(16_000)), SMALL_WINDOW)
    assert projection.ids(Part.HITS) == projection.ids(Part.PRIOR_SESSIONS) == []
    assert projection.ids(Part.ALWAYS_ON) == [1, 2]
    assert "- ship [/ship]\n- review\n" in projection.text
    assert projection.budget.used_chars > 16_000
    before = project(replace(FULL, working_state=filler(16_000)), Options()).budget.used_chars
    given = projection.budget.overflow
    assert [(shed.label, shed.dropped_items) for shed in given] == [
        (Part.HITS, 2),
        (Part.PRIOR_SESSIONS, 2),
        (Part.AVAILABLE_SKILLS, 2),
    ]
    assert projection.budget.used_chars == before - sum(shed.dropped_chars for shed in given)
    assert Section(Part.PRIOR_SESSIONS, 0, truncated=True) in projection.sections


def test_the_envelope_goes_with_the_last_entry_inside():
    projection = project(Candidates(hits=[memory(1)], working_state=filler(16_000)), SMALL_WINDOW)
    assert projection.text.startswith("<working_state>")
    assert projection.budget.used_chars == 16_000


def test_descriptions_are_shed_from_the_last_row_with_one():
    playbooks = [playbook("p0"), playbook("p1"), playbook("p2", "")]
    whole = project(Candidates(playbooks=playbooks), SMALL_WINDOW).budget.used_chars
    tight = Candidates(playbooks=playbooks, working_state=filler(16_000 - whole))
    projection = project(tight, SMALL_WINDOW)  # one line feed too many
    assert "- p0 · How to ship\n- p1\n- p2\n" in projection.text
    assert projection.budget.overflow == [Shed(Part.AVAILABLE_SKILLS, 1, len(" · How to ship"))]


def test_a_text_that_is_given_up_whole_is_empty():
    huge = Candidates(hits=[memory(1, domain="d" * 16_000)])
    projection = project(huge, SMALL_WINDOW)
    assert (projection.text, projection.budget.used_chars) == ("", 0)
    before = project(huge, Options()).budget.used_chars
    assert projection.budget.overflow == [Shed(Part.HITS, 1, before)]


def test_always_on_rows_are_counted_as_they_are_stored() -> None:
    """What escaping adds is not the row's: 5,400 characters of a check-list leave room for 600 more."""
    rows = [memory(2, content="- [a] " * 900, heading=None), memory(1, content="x" * 600, heading=None)]

    projection = project(Candidates(always_on=rows), Options())

    assert projection.ids(Part.ALWAYS_ON) == [2, 1]
