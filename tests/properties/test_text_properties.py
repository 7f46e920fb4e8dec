from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from knowledge.text import clean_query, fault_in, segments

ANY_TEXT = st.text(st.characters(exclude_categories=()) | st.sampled_from("\u200d\ufe0f😀\u202e\r\n\u0645"))


@given(ANY_TEXT)
def test_the_segments_are_the_text(text):
    assert "".join(part for _, part in segments(text)) == text


@given(ANY_TEXT)
def test_hidden_segments_are_single_and_shown_ones_never_touch(text):
    parts = list(segments(text))
    assert all(len(part) == 1 for hidden, part in parts if hidden)
    assert all(left[0] or right[0] for left, right in pairwise(parts))


@given(ANY_TEXT)
def test_a_cleaned_query_has_no_fault_and_can_be_encoded(text):
    assert fault_in(clean_query(text)) is None
    clean_query(text).encode()
