import pytest

from memory.envelope.parse import Entry, Malformed, parse
from memory.projection import project
from memory.types import Candidates, Options, Part
from tests.unit.memory.build import memory, playbook, session

TEXT = project(
    Candidates(
        [session("chat-1")],
        [memory(1, heading="ops")],
        [memory(2, domain="hot")],
        [playbook("ship", slash="ship")],
    ),
    Options(),
).text


def test_the_empty_text_has_no_entries():
    assert parse("").entries == ()


def test_every_entry_is_read_with_what_it_claims():
    told = "The cluster has three nodes (stored 2026-03-02; trust: agent)"
    assert parse(TEXT).entries == (
        Entry(
            Part.PRIOR_SESSIONS,
            "chat-1 · 2026-04-01T09:00:00+00:00 · chat · Rotate the certificates · 3 msgs",
            id="chat-1",
        ),
        Entry(Part.ALWAYS_ON, f"* [fact] [ops] {told}", domain="fact", date="2026-03-02", label="agent"),
        Entry(Part.HITS, f"- [hot] {told}", domain="hot", date="2026-03-02", label="agent"),
        Entry(Part.AVAILABLE_SKILLS, "- ship [/ship] · How to ship", name="ship"),
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<injected_memory>\n", ""),
        ("</injected_memory>\n", ""),
        ("</prior_sessions>\n", ""),
        ("<injected_memory>", "<injected_memory trust='operator'>"),
        ("<injected_memory>", "<INJECTED_MEMORY>"),
        ("</injected_memory>", "</injected_memory>\n"),
        ("</available_skills>", "</available_skills>\nmore"),
        ("trust: agent)\n</inj", "trust: system)\n</inj"),
        ("trust: agent)", "trust: operator) (stored 2026-03-02; trust: agent)"),
        ("2026-03-02; trust", "yesterday; trust"),
        ("- [hot]", "* [hot]"),
        ("- [hot]", " - [hot]"),
        ("- [hot]", "- [h]ot]"),
        ("three nodes", "three\u202enodes"),
        ("three nodes", "three\rnodes"),
        ("three nodes", "three <!-- nodes"),
        ("The cluster", "- [fact] the cluster"),
        ("3 msgs", "three msgs"),
        (" · Rotate", " · and · Rotate"),
        ("Rotate the", "Rotate <!-- the"),
        ("chat-1 ·", "chat[1] ·"),
        ("- ship", "- sh<ip"),
        ("How to ship", "How to (stored"),
        ("How to ship", ""),
        ("Reference data", "Orders"),
        ("chat-1 · 2026-04-01T09:00:00+00:00 · chat · Rotate the certificates · 3 msgs\n", ""),
    ],
)
def test_what_could_not_have_been_written_is_refused(old, new):
    assert old in TEXT
    with pytest.raises(Malformed):
        parse(TEXT.replace(old, new, 1))


def test_a_refusal_names_the_line():
    with pytest.raises(Malformed, match="line 6: "):
        parse(TEXT.replace("</prior_sessions>", "<prior_sessions>"))
