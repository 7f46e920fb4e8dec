"""Read the messages that an agent posts. No Django, no clock, no file.

Roles are taken by the names of OpenAI and of LangChain, calls of tools in the shape of either. What a
message says beside the fields of the contract is ignored, so reasoning that travels in a field of its own,
or as a part of the content, is never kept.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from knowledge.errors import Invalid
from memory.keeping import kept_json, kept_text

MAX_MESSAGE_ID_CHARS = 200
TEXT_PARTS = (None, "text", "input_text", "output_text")


class Speaker(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


_SPEAKERS: Mapping[str, Speaker] = {
    **{speaker.value: speaker for speaker in Speaker},
    "human": Speaker.USER,
    "ai": Speaker.ASSISTANT,
    "function": Speaker.TOOL,
    "developer": Speaker.SYSTEM,
}


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call that an assistant asked for."""

    id: str
    name: str
    args: object
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as it is kept; `id` is '' where the caller gave none."""

    id: str
    speaker: Speaker
    content: str
    name: str
    tool_call_id: str
    tool_calls: Sequence[ToolRequest]

    @property
    def says_nothing(self) -> bool:
        return not (self.content or self.tool_calls or self.tool_call_id)

    @property
    def ends_a_turn(self) -> bool:
        """True for an answer that waits for no tool."""
        return self.speaker is Speaker.ASSISTANT and bool(self.content) and not self.tool_calls

    @property
    def said(self) -> tuple[object, ...]:
        """What makes two messages the same one where neither has an id."""
        calls = json.dumps([[call.id, call.name, call.args] for call in self.tool_calls], sort_keys=True)
        return (self.speaker, self.content, self.name, self.tool_call_id, calls)


def speaker_named(role: object) -> Speaker | None:
    """Tell who a role is, None for a name that nobody uses."""
    return _SPEAKERS.get(role.strip().lower()) if isinstance(role, str) else None


def text_of(content: object) -> str | None:
    """Return the words of a content given as text or as parts; None when it is neither."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return None
    return "\n".join(text for part in content if (text := _text_of_part(part)))


def parse_turn(raw: Mapping[str, Any], field: str) -> Turn:
    """Read one posted message; raise Invalid naming the place under `field`."""
    speaker = speaker_named(raw.get("role"))
    if speaker is None:
        raise Invalid(f"{field}.role", f"must be one of {', '.join(_SPEAKERS)}")
    content = text_of(raw.get("content"))
    if content is None:
        raise Invalid(f"{field}.content", "must be text or a list of parts")
    return Turn(
        id=_word(raw, "id", field),
        speaker=speaker,
        content=kept_text(content),
        name=_word(raw, "name", field),
        tool_call_id=_word(raw, "tool_call_id", field),
        tool_calls=_tool_calls(raw.get("tool_calls"), f"{field}.tool_calls"),
    )


def duration_of(raw: Mapping[str, Any]) -> float:
    """Read how long a call took in milliseconds, 0 where nothing believable is said."""
    told = raw.get("duration_ms")
    believable = isinstance(told, int | float) and not isinstance(told, bool) and math.isfinite(told)
    return max(told, 0) if believable and isinstance(told, int | float) else 0


def _text_of_part(part: object) -> str:
    if isinstance(part, str):
        return part
    is_text = isinstance(part, dict) and part.get("type") in TEXT_PARTS
    text = part.get("text") if is_text and isinstance(part, dict) else None
    return text if isinstance(text, str) else ""


def _word(raw: Mapping[str, Any], key: str, field: str) -> str:
    value = raw.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_MESSAGE_ID_CHARS:
        raise Invalid(f"{field}.{key}", f"must be text of at most {MAX_MESSAGE_ID_CHARS} characters")
    return kept_text(value)


def _tool_calls(raw: object, field: str) -> tuple[ToolRequest, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list) or not all(isinstance(call, dict) for call in raw):
        raise Invalid(field, "must be a list of objects")
    return tuple(_tool_call(call, f"{field}.{place}") for place, call in enumerate(raw))


def _tool_call(raw: Mapping[str, Any], field: str) -> ToolRequest:
    function = raw.get("function")
    named: Mapping[str, Any] = function if isinstance(function, dict) else raw
    return ToolRequest(
        id=_word(raw, "id", field),
        name=_word(named, "name", field),
        args=kept_json(_arguments(named.get("arguments", named.get("args")))),
        duration_ms=duration_of(raw),
    )


def _arguments(told: object) -> object:
    """Read arguments that were sent as JSON in a text, as OpenAI's are."""
    if not isinstance(told, str):
        return told
    try:
        return json.loads(told)
    except (ValueError, RecursionError):
        return told
