"""Where a session takes place and what it is about. No Django, no clock, no file."""

from collections.abc import Iterable

from memory.keeping import kept_text
from memory.types import SpokenMessage

BACKGROUND = "background:"
MAX_TOPIC_CHARS = 80
MAX_SURFACE_CHARS = 40
ANYWHERE_ELSE = "a2a/other"

_BY_ID = {"chat-": "chat", BACKGROUND: "background", "system:activity": "activity", "palette-": "palette"}


def is_background(session_id: str) -> bool:
    """Say whether a session is a worker's own, which leaves no summary and enters no digest."""
    return session_id.startswith(BACKGROUND) or f":{BACKGROUND}" in session_id


def surface_of(session_id: str, told: str | None = None) -> str:
    """Name the surface: what the caller told, else what the id begins with."""
    if told and (named := _folded(kept_text(told))[:MAX_SURFACE_CHARS]):
        return named
    return next((name for start, name in _BY_ID.items() if session_id.startswith(start)), ANYWHERE_ELSE)


def topic_of(messages: Iterable[SpokenMessage]) -> str:
    """Return the first words of the user, never of the assistant; '' where the user said nothing."""
    first = next((message.content for message in messages if message.role == "user"), "")
    return _folded(kept_text(first))[:MAX_TOPIC_CHARS].rstrip()


def _folded(text: str) -> str:
    return " ".join(text.split())
