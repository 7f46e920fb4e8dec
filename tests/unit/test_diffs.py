"""Word diffs: nothing is lost, and only what changed is named."""

import time

from hypothesis import given
from hypothesis import strategies as st

from knowledge.diffs import Change, DiffPart, word_diff

WORDS = st.lists(st.sampled_from(["one", "two", " ", "\n", ".", "設備", "é"]), max_size=40).map("".join)


def join(parts: list[DiffPart], *kept: Change) -> str:
    return "".join(part.text for part in parts if part.change in kept)


def test_a_changed_word_stands_alone() -> None:
    assert word_diff("three nodes run", "five nodes run") == [
        DiffPart(Change.REMOVED, "three "),
        DiffPart(Change.ADDED, "five "),
        DiffPart(Change.SAME, "nodes run"),
    ]


def test_equal_texts_are_one_part_and_empty_texts_none() -> None:
    assert word_diff("same", "same") == [DiffPart(Change.SAME, "same")]
    assert word_diff("", "") == []


@given(WORDS, WORDS)
def test_both_texts_can_be_read_back(before: str, after: str) -> None:
    parts = word_diff(before, after)
    assert join(parts, Change.SAME, Change.REMOVED) == before
    assert join(parts, Change.SAME, Change.ADDED) == after


@given(st.text(), st.text())
def test_any_text_can_be_read_back(before: str, after: str) -> None:
    parts = word_diff(before, after)
    assert join(parts, Change.SAME, Change.REMOVED) == before
    assert join(parts, Change.SAME, Change.ADDED) == after


def test_the_longest_texts_are_compared_coarsely() -> None:
    before, after = "a b " * 25_000, "b a " * 25_000
    started = time.perf_counter()
    parts = word_diff(before, after)
    assert time.perf_counter() - started < 2
    assert join(parts, Change.SAME, Change.REMOVED) == before
    assert join(parts, Change.SAME, Change.ADDED) == after


def test_one_line_in_a_long_text_is_found_as_a_line() -> None:
    lines = [f"line {n} of the runbook\n" for n in range(900)]
    changed = [*lines[:450], "another line\n", *lines[451:]]
    parts = word_diff("".join(lines), "".join(changed))
    assert DiffPart(Change.ADDED, "another line\n") in parts
    assert DiffPart(Change.REMOVED, "line 450 of the runbook\n") in parts
