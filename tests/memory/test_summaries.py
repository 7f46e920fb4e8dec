import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from knowledge.errors import Invalid
from memory import summaries
from memory.types import SpokenMessage, Summary, ToolCall, Unreadable
from tests.cases import LEGACY
from tests.memory.sessions import folder, put

pytestmark = pytest.mark.usefixtures("instance")

MOMENT = "2026-12-01T12:00:00+00:00"


def a_summary(session_id: str = "a2a:7", **more: object) -> Summary:
    fields: dict[str, object] = {
        "session_id": session_id,
        "trace_id": "trace-1",
        "messages": [SpokenMessage("user", "Hello"), SpokenMessage("assistant", "Hi")],
        "tool_calls": [],
        "tool_calls_total": None,
        "final_output": "Hi",
        "timestamp": MOMENT,
    }
    return Summary(**{**fields, **more})  # type: ignore[arg-type]


def calls(*durations: float) -> list[ToolCall]:
    return [ToolCall(f"tool-{ms}", {"q": "x"}, "ok", ms) for ms in durations]


def reason(session_id: str) -> str:
    found = summaries.read(session_id)
    assert isinstance(found, Unreadable), found
    return found.reason


def test_a_summary_is_written_in_the_layout_of_the_agents_program() -> None:
    summaries.write(a_summary(tool_calls=calls(5)))
    path = folder() / "a2a%3A7.json"
    assert json.loads(path.read_text("utf-8")) == {
        "session_id": "a2a:7",
        "trace_id": "trace-1",
        "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
        "tool_calls": [{"name": "tool-5", "args": {"q": "x"}, "result": "ok", "duration_ms": 5}],
        "final_output": "Hi",
        "timestamp": MOMENT,
    }


def test_what_is_written_reads_back() -> None:
    written = a_summary(tool_calls=calls(5), surface="voice")
    summaries.write(written)
    read = summaries.read("a2a:7")
    assert isinstance(read, Summary)
    assert (read.messages, read.tool_calls) == (tuple(written.messages), tuple(written.tool_calls))
    assert (read.surface, read.timestamp, read.trace_id) == ("voice", MOMENT, "trace-1")


def test_the_five_longest_calls_are_kept_and_the_number_of_all() -> None:
    summaries.write(a_summary(tool_calls=calls(1, 60, 20, 50, 30, 40)))
    document = json.loads((folder() / "a2a%3A7.json").read_text("utf-8"))
    assert [call["duration_ms"] for call in document["tool_calls"]] == [60, 50, 40, 30, 20]
    assert document["tool_calls_total_count"] == 6


def test_files_and_the_folder_are_private_and_nothing_else_is_left() -> None:
    summaries.write(a_summary())
    where = summaries.folder().path
    assert where.stat().st_mode & 0o777 == 0o700
    assert [(path.name, path.stat().st_mode & 0o777) for path in where.iterdir()] == [("a2a%3A7.json", 0o600)]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    summaries.write(a_summary(final_output="old"))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        summaries.write(a_summary(final_output="new"))
    assert [path.name for path in folder().iterdir()] == ["a2a%3A7.json"]
    read = summaries.read("a2a:7")
    assert isinstance(read, Summary)
    assert read.final_output == "old"


def test_thoughts_credentials_and_our_own_blocks_are_not_written() -> None:
    said = "<think>plan</think>Use password=hunter2 <injected_memory>row</injected_memory>"
    summaries.write(
        a_summary(
            messages=[SpokenMessage("user", said)],
            final_output=said,
            tool_calls=[ToolCall("x", {"token": "t0p", "deep": [{"q": said}]}, said, 1)],
        )
    )
    text = (folder() / "a2a%3A7.json").read_text("utf-8")
    assert text.count("Use password=[redacted]") == 4
    for word in ("plan", "hunter2", "row", "injected", "t0p"):
        assert word not in text


def test_they_are_not_read_either() -> None:
    put("chat-1", "<think>plan</think>Use password=hunter2 <injected_memory>row</injected_memory>")
    read = summaries.read("chat-1")
    assert isinstance(read, Summary)
    assert read.messages[0].content == "Use password=[redacted]"


def test_a_raw_colon_is_read_and_removed_when_its_twin_is_written() -> None:
    put("a2a:7", "from an older build").rename(folder() / "a2a:7.json")
    read = summaries.read("a2a:7")
    assert isinstance(read, Summary)
    assert read.messages[0].content == "from an older build"
    summaries.write(a_summary())
    assert [path.name for path in folder().iterdir()] == ["a2a%3A7.json"]


def test_of_twins_the_encoded_one_counts() -> None:
    put("a2a:7", "older").rename(folder() / "a2a:7.json")
    put("a2a:7", "newer")
    read = summaries.read("a2a:7")
    assert isinstance(read, Summary)
    assert read.messages[0].content == "newer"
    assert {key: entry.name for key, entry in summaries.listed(summaries.folder()).items()} == {
        "a2a:7": "a2a%3A7.json"
    }


@pytest.mark.parametrize(
    "session_id",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "/etc/passwd",
        "a\x00b",
        "a b",
        "a%2Fb",
        "é",
        "x\n",
        "x" * 201,
        "x" * 10_000,
    ],
)
def test_what_is_no_session_id_never_becomes_a_path(session_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(*_: object) -> None:
        raise AssertionError("a path was built")

    monkeypatch.setattr(summaries, "folder", touched)
    for use in (summaries.file_name, summaries.read, lambda name: summaries.write(a_summary(name))):
        with pytest.raises(Invalid, match="session_id"):
            use(session_id)


@pytest.mark.parametrize(
    ("name", "session_id"),
    [
        ("chat-1.json", "chat-1"),
        ("a2a%3A7.json", "a2a:7"),
        ("a2a:7.json", "a2a:7"),
        ("a%3Ab:c.json", None),
        ("a%3ab.json", None),
        ("a%2Fb.json", None),
        ("notes.txt", None),
        ("chat-1.json.tmp", None),
        (".json", None),
        ("..json", None),
        ("x y.json", None),
    ],
)
def test_a_file_name_is_that_of_one_session_or_of_none(name: str, session_id: str | None) -> None:
    assert summaries.session_of(name) == session_id


def test_an_id_that_differs_by_case_alone_is_refused() -> None:
    summaries.write(a_summary("Chat-1"))
    with pytest.raises(summaries.NotWritten, match="the session Chat-1 only by letter case"):
        summaries.write(a_summary("chat-1"))
    summaries.write(a_summary("Chat-1"))
    summaries.write(a_summary("chat-11"))


def test_case_is_compared_with_raw_colons_too() -> None:
    put("A2A:7").rename(folder() / "A2A:7.json")
    with pytest.raises(summaries.NotWritten, match="letter case"):
        summaries.write(a_summary("a2a:7"))


def test_an_id_too_long_for_a_file_name_is_refused() -> None:
    summaries.write(a_summary("x" * 200))
    with pytest.raises(summaries.NotWritten, match="too long"):
        summaries.write(a_summary(":" * 200))
    assert summaries.read(":" * 80) is None


def _link(path: Path) -> None:
    target = folder().parent / "secret.json"
    target.write_text('{"messages": []}', "utf-8")
    path.symlink_to(target)


def _big(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(20 * 2**20 + 1)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.write_text('{"session_id": "chat-1", "mess', "utf-8"), "not readable JSON"),
        (lambda path: path.write_text("[" * 100_000, "utf-8"), "not readable JSON"),
        (lambda path: path.write_text("[1]", "utf-8"), "not a JSON object"),
        (lambda path: path.write_bytes(b'{"a": "\xff"}'), "not UTF-8"),
        (lambda path: path.write_text('{"messages": {}, "session_id": 5}', "utf-8"), "session_id that is no"),
        (lambda path: path.write_text('{"messages": "x"}', "utf-8"), "messages that are no list"),
        (lambda path: path.write_text('{"messages": ["x"]}', "utf-8"), "messages that are no list"),
        (lambda path: path.write_text('{"messages": [{"role": "user", "content": 5}]}', "utf-8"), "content"),
        (lambda path: path.write_text('{"timestamp": 5}', "utf-8"), "timestamp that is no text"),
        (lambda path: path.write_text('{"tool_calls": 5}', "utf-8"), "tool_calls that are no list"),
        (lambda path: path.write_text('{"session_id": "chat-2"}', "utf-8"), "names another session"),
        (lambda path: path.mkdir(), "not a regular file|cannot be read"),
        (os.mkfifo, "not a regular file"),
        (_link, "symbolic link"),
        (_big, "larger than 20 MB"),
    ],
)
def test_a_file_that_tells_nothing_says_why(make: Callable[[Path], object], why: str) -> None:
    make(folder() / "chat-1.json")
    assert re.search(why, reason("chat-1"))


def test_a_file_that_may_not_be_read_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    put("chat-1")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert reason("chat-1") == "the file cannot be read: Permission denied"


def test_parts_of_contents_and_names_of_roles_are_understood() -> None:
    put(
        "chat-1",
        messages=[
            {"role": "human", "content": [{"type": "text", "text": "One"}, "two", {"type": "image"}]},
            {"role": "ai", "content": None},
            {"role": "ai", "content": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "Yes"}]},
        ],
        timestamp="not a time",
    )
    read = summaries.read("chat-1")
    assert isinstance(read, Summary)
    assert read.messages == (
        SpokenMessage("user", "One\ntwo"),
        SpokenMessage("assistant", ""),
        SpokenMessage("assistant", "Yes"),
    )
    assert read.timestamp == ""


def test_the_legacy_folder_reads_but_for_its_corrupt_file() -> None:
    shutil.copytree(LEGACY / "memory", folder(), dirs_exist_ok=True)
    found = summaries.listed(summaries.folder())
    assert len(found) == len(list(folder().glob("*.json")))
    unreadable = [key for key in found if isinstance(summaries.read(key), Unreadable)]
    assert unreadable == ["chat-corrupt"]
    leaky = summaries.read("chat-leaky")
    assert isinstance(leaky, Summary)
    assert [message.content for message in leaky.messages] == [
        "Use the key [redacted] and password=[redacted] for the demo",
        "Stored.",
    ]
    assert leaky.final_output == "Stored."
    assert isinstance(summaries.read("a2a:legacy-colon"), Summary)
