"""Memory text on a page: escaped, with what cannot be seen made visible."""

import html
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.templatetags.memory_text import changed_fields, highlight, memory_text, reltime, shorten
from knowledge.text import segments
from knowledge.types import MARK_CLOSE, MARK_OPEN, AuditEntry
from tests.cases import cases

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
OUR_TAGS = re.compile(r'</?mark>|<span class="mark-invisible" title="[^"<>]*">|</span>|</?time[^<>]*>')
HOSTILE = cases("hostile_text")


def foreign_markup(markup: str) -> str:
    return re.sub(r"[^<>\"']", "", OUR_TAGS.sub("", markup))


def test_markup_is_shown_as_text() -> None:
    assert memory_text("<b>&\"'") == "&lt;b&gt;&amp;&quot;&#x27;"


def test_a_character_that_turns_the_direction_is_marked_by_name() -> None:
    assert memory_text("a\u202eb") == (
        'a<span class="mark-invisible" title="U+202E RIGHT-TO-LEFT OVERRIDE">⟨RLO⟩</span>b'
    )


def test_line_breaks_and_right_to_left_scripts_stay() -> None:
    assert memory_text("one\n\tتواريخ") == "one\n\tتواريخ"


def test_nothing_is_nothing() -> None:
    assert memory_text(None) == ""


def test_a_long_run_of_invisible_characters_is_one_mark() -> None:
    markup = memory_text("\u200b" * 50_000)
    assert "⟨50,000 invisible⟩" in markup
    assert markup.count("<span") == 1


def test_very_many_marks_are_shown_without_their_explanations() -> None:
    markup = memory_text("a\u200b" * 10_000)
    assert markup == "a⟨ZWSP⟩" * 10_000


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_markup(text: str) -> None:
    assert foreign_markup(memory_text(text)) == ""
    assert foreign_markup(highlight(text)) == ""
    assert foreign_markup(reltime(text)) == ""


@given(st.text())
def test_text_can_be_read_back_from_its_markup(text: str) -> None:
    shown = "".join(part for hidden, part in segments(text) if not hidden)
    assert html.unescape(re.sub(r"<span[^>]*>[^<]*</span>", "", memory_text(text))) == shown


def test_matches_are_marked_after_escaping() -> None:
    assert highlight(f"<i> {MARK_OPEN}a&b{MARK_CLOSE} c") == "&lt;i&gt; <mark>a&amp;b</mark> c"


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (f"{MARK_CLOSE}a", "a"),
        (f"{MARK_OPEN}a", "<mark>a</mark>"),
        (f"{MARK_OPEN}{MARK_OPEN}a{MARK_CLOSE}{MARK_CLOSE}b", "<mark>a</mark>b"),
    ],
)
def test_stray_marks_leave_no_tag_open(stored: str, shown: str) -> None:
    assert highlight(stored) == shown


@given(st.text(alphabet=f"a<{MARK_OPEN}{MARK_CLOSE}"))
def test_marks_always_balance(text: str) -> None:
    tags = re.findall(r"</?mark>", highlight(text))
    assert tags == ["<mark>", "</mark>"] * (len(tags) // 2)


@pytest.mark.parametrize(
    ("ago", "shown"),
    [
        (timedelta(seconds=59), "now"),
        (timedelta(minutes=59, seconds=59), "59m"),
        (timedelta(hours=23), "23h"),
        (timedelta(days=6, hours=23), "6d"),
        (timedelta(days=7), "8 Jun"),
        (timedelta(days=200), "Nov 2025"),
        (timedelta(hours=-2), "in 2h"),
    ],
)
def test_times_are_relative(ago: timedelta, shown: str) -> None:
    assert reltime((NOW - ago).isoformat(), NOW).endswith(f">{shown}</time>")


def test_the_exact_time_is_told_in_utc() -> None:
    assert reltime("2026-06-15T13:30:05+02:00", NOW) == (
        '<time datetime="2026-06-15T11:30:05+00:00" title="2026-06-15 11:30:05 UTC">29m</time>'
    )


@pytest.mark.parametrize("stored", ["the day <before>", "2026-13-01", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_time_is_shown_as_it_is(stored: str) -> None:
    assert reltime(stored, NOW) == html.escape(stored)


def test_a_time_without_a_zone_is_utc() -> None:
    assert 'title="2026-06-15 11:30:00 UTC"' in reltime("2026-06-15T11:30:00", NOW)


def test_long_text_is_put_on_one_line_and_cut() -> None:
    assert shorten("one\n two   three", 9) == "one two…"
    assert shorten("short\nline", 20) == "short line"
    assert shorten(None) == ""


def entry(before: dict[str, object], after: dict[str, object]) -> AuditEntry:
    return AuditEntry(1, "", "b", "edit", 1, "maria", "operator", "page", None, before, after, None, False)


def test_an_audit_line_names_what_changed() -> None:
    before: dict[str, object] = {
        "review_state": "pending",
        "domain": "fact",
        "updated_at": "1",
        "source": "s" * 80,
    }
    after: dict[str, object] = {
        **before,
        "review_state": "confirmed",
        "updated_at": "2",
        "heading": "H",
        "source": "",
    }
    changes = [(change.name, change.before, change.after) for change in changed_fields(entry(before, after))]
    assert changes == [
        ("review state", "pending", "confirmed"),
        ("source", "s" * 59 + "…", "none"),
        ("heading", "none", "H"),
    ]
