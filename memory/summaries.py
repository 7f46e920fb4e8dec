"""The summary files, one for each session, in the layout that the agent's own program uses (SPEC 6).

A file is named by the session's id with `:` as `%3A`; older builds left the colon as it is. No path is ever
built from a text that is no session id. What is read and what is written holds no leaked reasoning, no
credential and no echo of a projection.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from knowledge.errors import Invalid
from knowledge.times import parse_iso, to_iso
from memory.folder import Entry, FileFault, Folder
from memory.keeping import kept_json, kept_text
from memory.turns import duration_of, speaker_named, text_of
from memory.types import SpokenMessage, Summary, ToolCall, Unreadable
from protoconsole.instance import current
from protoconsole.session_ids import ALLOWED, is_session_id

SUFFIX = ".json"
MAX_BYTES = 20 * 2**20
MAX_NAME_BYTES = 255  # of a file, on every common file system
MAX_TOOL_CALLS = 5
MAX_RESULT_CHARS = 2_000
MAX_ROLE_CHARS = 40


class NotWritten(Exception):
    """A summary that cannot have a file; the text says why."""


class _Fault(Exception):
    """A file whose content is no summary; the text says why, about the file."""


def folder() -> Folder:
    return Folder(current().paths.memory_dir)


def file_name(session_id: str) -> str:
    """Name the file of a session; raise Invalid for what is no session id."""
    if not is_session_id(session_id):
        raise Invalid("session_id", f"must be {ALLOWED}")
    return session_id.replace(":", "%3A") + SUFFIX


@lru_cache(maxsize=50_000)  # a listing asks for the same names time and again
def session_of(name: str) -> str | None:
    """Say which session a file is the summary of, None for any other file."""
    session_id = name.removesuffix(SUFFIX).replace("%3A", ":")
    names = possible_names(session_id) if is_session_id(session_id) else ()
    return session_id if name in names else None


def possible_names(session_id: str) -> tuple[str, ...]:
    """Name the files that a session may have, the one that counts first."""
    return tuple(dict.fromkeys((file_name(session_id), session_id + SUFFIX)))


def listed(where: Folder) -> dict[str, Entry]:
    """Find the file of each session, without opening any."""
    found: dict[str, Entry] = {}
    for entry in where.entries():
        session_id = session_of(entry.name)
        if session_id is not None and (session_id not in found or entry.name == file_name(session_id)):
            found[session_id] = entry
    return found


def read(session_id: str) -> Summary | Unreadable | None:
    """Read a session's summary; None where it has none."""
    for name in possible_names(session_id):
        found = read_file(folder(), name, session_id)
        if found is not None:
            return found
    return None


def read_file(where: Folder, name: str, session_id: str) -> Summary | Unreadable | None:
    """Read one file as the summary of a session; None when it is not there any more."""
    try:
        return _parsed(where.read(name, MAX_BYTES), session_id)
    except FileNotFoundError:
        return None
    except (FileFault, _Fault) as fault:
        return Unreadable(session_id, f"the file {fault}")


def write(summary: Summary) -> Entry:
    """Write a session's summary in one step and remove an older build's file of the same session.

    Raises NotWritten where the id cannot name a file of its own or the text is too large, OSError where the
    disk refuses.
    """
    name, *old_names = possible_names(summary.session_id)
    if len(name) > MAX_NAME_BYTES:
        raise NotWritten("the id is too long to name a file")
    _refuse_look_alike(summary.session_id)
    content = _written(summary)
    if len(content) > MAX_BYTES:
        raise NotWritten(f"the summary is larger than {MAX_BYTES // 2**20} MB")
    entry = folder().write(name, content)
    for old_name in old_names:
        folder().remove(old_name)
    return entry


def _refuse_look_alike(session_id: str) -> None:
    """Keep two sessions apart that a disk without letter case would give one file."""
    alike = {name.lower() for name in possible_names(session_id)}
    for name in folder().names():
        other = session_of(name) if name.lower() in alike else None
        if other and other != session_id:
            raise NotWritten(f"the id differs from the session {other} only by letter case")


def _written(summary: Summary) -> bytes:
    longest = sorted(summary.tool_calls, key=lambda call: -call.duration_ms)[:MAX_TOOL_CALLS]
    total = summary.tool_calls_total or len(summary.tool_calls)
    document: dict[str, object] = {
        "session_id": summary.session_id,
        "trace_id": summary.trace_id,
        "messages": [
            {"role": message.role, "content": kept_text(message.content)} for message in summary.messages
        ],
        "tool_calls": [_written_call(call) for call in longest],
        **({"tool_calls_total_count": total} if total > len(longest) else {}),
        "final_output": kept_text(summary.final_output),
        "timestamp": summary.timestamp,
        **({"surface": kept_text(summary.surface)} if summary.surface else {}),
    }
    return json.dumps(document, ensure_ascii=False, indent=2).encode()


def _written_call(call: ToolCall) -> dict[str, object]:
    return {
        "name": call.name,
        "args": kept_json(call.args),
        "result": kept_text(call.result)[:MAX_RESULT_CHARS],
        "duration_ms": call.duration_ms,
    }


def _parsed(content: bytes, session_id: str) -> Summary:
    document = _document(content)
    named = _text(document, "session_id")
    if named not in ("", session_id):
        raise _Fault("names another session than its file name does")
    moment = parse_iso(_text(document, "timestamp"))
    total = document.get("tool_calls_total_count")
    return Summary(
        session_id=session_id,
        trace_id=_text(document, "trace_id") or None,
        messages=tuple(_message(item) for item in _objects(document, "messages")),
        tool_calls=tuple(_tool_call(item) for item in _objects(document, "tool_calls")),
        tool_calls_total=total if isinstance(total, int) else None,
        final_output=_spoken(document.get("final_output"), "final_output"),
        timestamp=to_iso(moment) if moment else "",
        surface=_text(document, "surface") or None,
    )


def _document(content: bytes) -> Mapping[str, Any]:
    try:
        document = json.loads(content)
    except UnicodeDecodeError as error:
        raise _Fault("is not UTF-8 text") from error
    except (ValueError, RecursionError) as error:
        raise _Fault("is not readable JSON") from error
    if not isinstance(document, dict):
        raise _Fault("is not a JSON object")
    return document


def _text(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    if value is not None and not isinstance(value, str):
        raise _Fault(f"has a {key} that is no text")
    return kept_text(value or "")


def _objects(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = document.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise _Fault(f"has {key} that are no list of objects")
    return value


def _message(item: Mapping[str, Any]) -> SpokenMessage:
    role = _text(item, "role")
    speaker = speaker_named(role) or " ".join(role.split())[:MAX_ROLE_CHARS]
    return SpokenMessage(str(speaker), _spoken(item.get("content"), "content of a message"))


def _spoken(content: object, what: str) -> str:
    text = text_of(content)
    if text is None:
        raise _Fault(f"has a {what} that is no text")
    return kept_text(text)


def _tool_call(item: Mapping[str, Any]) -> ToolCall:
    result = item.get("result")
    shown = result if isinstance(result, str) else json.dumps(kept_json(result))
    return ToolCall(_text(item, "name"), kept_json(item.get("args")), kept_text(shown), duration_of(item))
