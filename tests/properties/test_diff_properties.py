from difflib import SequenceMatcher
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from knowledge import diffs

WORDS = st.lists(st.sampled_from(["a", "b", "c", " ", "\n", ".", "設", "x y"]), max_size=30).map("".join)
TEXT = WORDS | st.text()


def word_diff(old, new):
    return [(part.change, part.text) for part in diffs.word_diff(old, new)]


@given(TEXT, TEXT)
def test_the_parts_make_both_texts(old, new):
    parts = word_diff(old, new)
    assert "".join(text for change, text in parts if change != "added") == old
    assert "".join(text for change, text in parts if change != "removed") == new


@given(TEXT, TEXT)
def test_no_part_is_empty_and_neighbours_differ(old, new):
    parts = word_diff(old, new)
    assert all(text for _, text in parts)
    assert all(left[0] != right[0] for left, right in pairwise(parts))


@given(st.text("設備清"), st.text("設備清"))
def test_at_least_as_much_stays_as_difflib_finds(old, new):
    same = sum(len(text) for change, text in word_diff(old, new) if change == "same")
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    assert same >= sum(block.size for block in blocks)
