import pytest

from protoconsole.session_ids import is_session_id


@pytest.mark.parametrize(
    "text", ["a", "chat-0001", "a2a:00:1", "A.b_c", "...", "x" * 200, "system:activity", "-", ".a"]
)
def test_what_names_a_session(text: str) -> None:
    assert is_session_id(text)


@pytest.mark.parametrize(
    "text", ["", ".", "..", "a/b", "a\\b", "a b", "a\n", "\n", "a\0", "x" * 201, "ä", "a%3Ab", "٣", "../a"]
)
def test_what_does_not(text: str) -> None:
    assert not is_session_id(text)
