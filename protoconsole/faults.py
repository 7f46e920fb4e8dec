"""What is wrong with a request, as one sentence that names the field, the value and the mend. No Django."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MAX_SHOWN_CHARS = 60
_TO_SEND = "Input should be "


def sentence(errors: Iterable[Mapping[str, Any]]) -> str:
    """Flatten the errors of pydantic, each with the path of its field as `loc`."""
    return "; ".join(_fault(error) for error in errors)


def shown(value: object) -> str:
    """Write a value in plain characters, cut to a length that a sentence can hold."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = ascii(value)
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[: MAX_SHOWN_CHARS - 1]}…"


def _fault(error: Mapping[str, Any]) -> str:
    field = _field(error["loc"])
    match error["type"]:
        case "missing":
            return f"{field}: is missing; send it"
        case "extra_forbidden":
            return f"{field}: is not known here; leave it out"
        case "unstorable":
            return f"{field}: {error['msg']}"
        case _:
            return f"{field}: {shown(error['input'])} is not allowed; {_mend(error['msg'])}"


def _field(path: Sequence[str | int]) -> str:
    names = [shown(part).strip('"') for part in path]
    return ".".join(names) or "body"


def _mend(message: str) -> str:
    if message.startswith(_TO_SEND):
        return f"send {message.removeprefix(_TO_SEND)}"
    return message[:1].lower() + message[1:]
