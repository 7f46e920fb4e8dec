"""The fields of forms: what they take, and in which words they refuse."""

import pytest
from django.core.exceptions import ValidationError

from knowledge.forms import QueryField, TextField


@pytest.mark.parametrize(
    ("sent", "searched"),
    [("a\x00b", "ab"), ("\x00", ""), ("\ud800x", "x"), (" tea ", "tea"), ("x" * 100_001, "x" * 100_000)],
)
def test_a_query_is_cleaned_and_never_refused(sent: str, searched: str) -> None:
    assert QueryField(required=False).clean(sent) == searched


@pytest.mark.parametrize(
    ("sent", "fault"), [("a\x00b", "NUL at position 1"), ("\ud800", "lone surrogate U+D800 at position 0")]
)
def test_a_text_that_cannot_be_stored_is_refused_in_one_sentence(sent: str, fault: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TextField().clean(sent)
    assert refused.value.messages == [fault]


def test_a_text_is_kept_but_for_the_line_ends_of_browsers() -> None:
    assert TextField().clean(" a\r\nb\rc ") == " a\nb\rc "
