import pytest

from memory.surfaces import is_background, surface_of, topic_of
from memory.types import SpokenMessage


@pytest.mark.parametrize(
    ("session_id", "surface"),
    [
        ("chat-1", "chat"),
        ("background:job-1", "background"),
        ("system:activity", "activity"),
        ("palette-1", "palette"),
        ("a2a:1", "a2a/other"),
        ("my-chat-1", "a2a/other"),
    ],
)
def test_the_id_tells_the_surface(session_id: str, surface: str) -> None:
    assert surface_of(session_id) == surface
    assert surface_of(session_id, "") == surface


def test_the_caller_knows_better() -> None:
    assert surface_of("chat-1", " voice\ncall ") == "voice call"
    assert len(surface_of("chat-1", "x" * 500)) == 40


@pytest.mark.parametrize(
    ("session_id", "is_one"),
    [
        ("background:x", True),
        ("a2a:background:x", True),
        ("a2abackground:x", False),
        ("my-background", False),
    ],
)
def test_background_sessions_are_known_by_their_id(session_id: str, is_one: bool) -> None:
    assert is_background(session_id) is is_one


def spoken(*messages: tuple[str, str]) -> list[SpokenMessage]:
    return [SpokenMessage(*message) for message in messages]


def test_the_topic_is_what_the_user_said_first() -> None:
    messages = spoken(
        ("system", "Be kind"), ("assistant", "Hello"), ("user", " Plan\n\nthe  trip"), ("user", "No")
    )
    assert topic_of(messages) == "Plan the trip"


def test_without_a_user_there_is_no_topic() -> None:
    assert topic_of(spoken(("assistant", "Hello"))) == ""


def test_a_topic_shows_no_thoughts_no_secrets_and_no_echo() -> None:
    said = "<think>x</think><injected_memory>y</injected_memory>Use password=hunter2"
    assert topic_of(spoken(("user", said))) == "Use password=[redacted]"


def test_a_topic_has_80_characters_at_most() -> None:
    assert topic_of(spoken(("user", "a" * 81))) == "a" * 80
    assert topic_of(spoken(("user", "a" * 79 + " b"))) == "a" * 79
