import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from django.db import connections

from knowledge.errors import Invalid
from memory import hidden, session_index, summaries, threads
from memory.models import HiddenMessage, Message, Thread
from memory.threads import is_incognito, overlap, post_turns
from memory.types import Goal, NoSummary, Schedule, Summary, Task, TurnsKept, Watch, WorkingState
from memory.working_states import put_working_state, working_state_of
from protoconsole.instance import Instance
from tests.actors import AGENT
from tests.memory.sessions import assistant, folder, put, user

pytestmark = pytest.mark.usefixtures("store")

HELLO = [user("Hello"), assistant("Hi")]
MORE = [user("And now?"), assistant("Now this.")]
WRITTEN = TurnsKept(2, True)


def post(messages: list[Any], session_id: str | None = "chat-1", **more: Any) -> TurnsKept:
    return post_turns(session_id, messages, by=AGENT, **more)


def kept(session_id: str = "chat-1") -> list[tuple[str, str]]:
    messages = Message.objects.filter(thread__session_id=session_id)
    return [(message.role, message.content) for message in messages]


def summary(session_id: str = "chat-1") -> Summary:
    read = summaries.read(session_id)
    assert isinstance(read, Summary), read
    return read


def said(session_id: str = "chat-1") -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in summary(session_id).messages]


def test_a_finished_turn_is_kept_and_summarised() -> None:
    assert post(HELLO, surface="voice", trace_id="trace-9") == WRITTEN
    assert kept() == said() == [("user", "Hello"), ("assistant", "Hi")]
    written = summary()
    assert (written.final_output, written.surface, written.trace_id) == ("Hi", "voice", "trace-9")
    row = session_index.find("chat-1")
    assert row is not None
    assert (row.topic, row.surface, row.message_count) == ("Hello", "voice", 2)


def test_the_summary_grows_with_the_thread() -> None:
    post(HELLO)
    assert post(MORE) == WRITTEN
    assert [content for _, content in said()] == ["Hello", "Hi", "And now?", "Now this."]
    assert summary().final_output == "Now this."


def test_what_repeats_the_end_is_not_stored_twice() -> None:
    post(HELLO)
    assert post(HELLO) == TurnsKept(0, True)
    assert post([*HELLO, *MORE]).stored == 2
    assert post([HELLO[1], *MORE, user("Third")]).stored == 1
    assert [content for _, content in kept()] == ["Hello", "Hi", "And now?", "Now this.", "Third"]


def test_what_repeats_something_earlier_is_said_again() -> None:
    post(HELLO)
    post(MORE)
    assert post(HELLO).stored == 2
    assert len(kept()) == 6


def test_the_same_words_twice_in_one_post_are_two_messages() -> None:
    assert post([user("yes"), user("yes")]).stored == 2
    assert post([user("yes")]).stored == 0


def test_a_message_of_a_known_id_is_the_same_one() -> None:
    first = [user("Hello", id="m1"), assistant("Hi", id="m2")]
    post(first)
    assert post([*first, user("Hello", id="m3"), user("changed", id="m1")]).stored == 1
    assert post([user("x", id="m4"), user("y", id="m4")]).stored == 1
    assert [content for _, content in kept()] == ["Hello", "Hi", "Hello", "x"]
    assert post(first, "chat-2").stored == 2


def test_messages_without_ids_continue_those_with() -> None:
    post([user("Hello", id="m1"), assistant("Hi", id="m2")])
    assert post([*HELLO, user("More")]).stored == 1


@pytest.mark.parametrize(
    ("tail", "head", "shared"),
    [("", "ab", 0), ("ab", "", 0), ("ab", "ab", 2), ("xab", "abc", 2), ("aab", "aba", 2), ("aaa", "aa", 2),
     ("abab", "ab", 2), ("abc", "xabc", 0)],
)  # fmt: skip
def test_the_overlap_is_the_longest(tail: str, head: str, shared: int) -> None:
    assert overlap(tail, head) == shared


def test_names_of_roles_and_parts_of_contents_are_understood() -> None:
    post(
        [
            {"role": "system", "content": "Be kind."},
            {
                "role": "Human",
                "content": [{"type": "text", "text": "One"}, {"type": "image_url", "image_url": {}}],
            },
            {"role": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "look", "args": {"q": "x"}}]},
            {"role": "tool", "content": "found", "tool_call_id": "c1"},
            {
                "role": "ai",
                "content": [{"type": "reasoning", "text": "hm"}, {"type": "output_text", "text": "Two"}],
            },
        ]
    )
    assert kept() == [
        ("system", "Be kind."), ("user", "One"), ("assistant", ""), ("tool", "found"), ("assistant", "Two"),
    ]  # fmt: skip
    assert said() == [("user", "One"), ("assistant", "Two")]
    call = summary().tool_calls[0]
    assert (call.name, call.args, call.result, call.duration_ms) == ("look", {"q": "x"}, "found", 0)


def test_calls_in_the_shape_of_openai_are_the_same_calls() -> None:
    function = {"name": "look", "arguments": '{"q": "x"}'}
    call = {"id": "c1", "type": "function", "function": function, "duration_ms": 12.5}
    post([user("One"), assistant(None, tool_calls=[call]), assistant("Two")])
    written = summary().tool_calls[0]
    assert (written.name, written.args, written.duration_ms) == ("look", {"q": "x"}, 12.5)


def test_the_longest_calls_are_summarised() -> None:
    calls = [{"id": f"c{ms}", "name": f"t{ms}", "args": {}, "duration_ms": ms} for ms in (1, 6, 3, 5, 2, 4)]
    post([user("One"), assistant("", tool_calls=calls), assistant("Two")])
    assert [call.name for call in summary().tool_calls] == ["t6", "t5", "t4", "t3", "t2"]
    assert summary().tool_calls_total == 6


def test_what_no_contract_names_is_ignored() -> None:
    message = assistant("Hi", reasoning_content="SECRET", thinking={"text": "SECRET"}, x=1)
    post([user("Hello", metadata={"y": "SECRET"}), message])
    assert "SECRET" not in json.dumps(list(Message.objects.values()), default=str)


def test_our_blocks_thoughts_and_credentials_are_not_kept() -> None:
    text = "<injected_memory>ROW</injected_memory>Hello <think>PLAN</think>password=hunter2"
    call = {"id": "c", "name": "t", "args": {"q": text, "token": "T0P"}}
    post([user(text), assistant("", tool_calls=[call]), assistant("Done <working_state>GOAL")])
    everything = (
        json.dumps(list(Message.objects.values()), default=str) + next(folder().iterdir()).read_text()
    )
    for word in ("ROW", "PLAN", "hunter2", "T0P", "GOAL", "injected_memory", "working_state"):
        assert word not in everything
    assert kept()[0] == ("user", "Hello password=[redacted]")


def test_a_message_of_nothing_but_our_own_is_not_kept() -> None:
    answer = post([user("<injected_memory>x</injected_memory>"), assistant("<think>x</think>")])
    assert answer == TurnsKept(0, False, NoSummary.NOT_TERMINAL)
    assert kept() == []


def test_text_that_cannot_be_stored_is_cleaned() -> None:
    post([user("a\x00b\ud800c"), assistant("Hi")])
    assert kept()[0] == ("user", "abc")


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([user("x"), {"role": "robot", "content": "x"}], "messages.1.role"),
        ([{"content": "x"}], "messages.0.role"),
        ([{"role": "user", "content": 5}], "messages.0.content"),
        ([{"role": "user", "content": {"text": "x"}}], "messages.0.content"),
        ([user("x", id=5)], "messages.0.id"),
        ([user("x", id="i" * 201)], "messages.0.id"),
        ([assistant("x", tool_calls="x")], "messages.0.tool_calls"),
        ([assistant("x", tool_calls=[{"name": 5}])], "messages.0.tool_calls.0.name"),
        (["x"], "messages.0"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_place_and_nothing_is_kept(
    messages: list[Any], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        post(messages)
    assert refused.value.field == field
    assert Thread.objects.count() == 0


@pytest.mark.parametrize("session_id", ["../x", "a b", "x" * 201, "."])
def test_what_is_no_session_id_is_refused(session_id: str) -> None:
    with pytest.raises(Invalid, match="session_id"):
        post(HELLO, session_id)


def test_a_turn_that_is_not_over_writes_no_summary() -> None:
    waiting = assistant("Let me look", tool_calls=[{"id": "c", "name": "look", "args": {}}])
    for messages in (
        [user("Hello")],
        [waiting],
        [{"role": "tool", "content": "found", "tool_call_id": "c"}],
        [],
    ):
        answer = post(messages)
        assert (answer.summary_written, answer.reason) == (False, NoSummary.NOT_TERMINAL)
    assert summaries.read("chat-1") is None


def test_the_caller_may_say_whether_the_turn_is_over() -> None:
    assert post([user("Hello")], terminal=True) == TurnsKept(1, True)
    assert post(MORE, terminal=False) == TurnsKept(2, False, NoSummary.NOT_TERMINAL)
    assert said() == [("user", "Hello")]
    assert post([], terminal=True) == TurnsKept(0, True)
    assert len(said()) == 3
    assert post([], "chat-2", terminal=True) == TurnsKept(0, False, NoSummary.EMPTY)


def test_a_turn_without_a_session_leaves_nothing() -> None:
    assert post(HELLO, None) == post(HELLO, "") == TurnsKept(0, False, NoSummary.NO_SESSION)
    assert Thread.objects.count() == 0


@pytest.mark.parametrize("session_id", ["background:1", "a2a:background:1"])
def test_background_threads_are_kept_without_a_summary(session_id: str) -> None:
    assert post(HELLO, session_id) == TurnsKept(2, False, NoSummary.BACKGROUND)
    assert list(folder().iterdir()) == []


@pytest.mark.parametrize("value", ["1", "true", " YES "])
def test_the_environment_can_forbid_summaries(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROTOAGENT_DISABLE_MEMORY", value)
    assert post(HELLO) == TurnsKept(2, False, NoSummary.DISABLED)
    monkeypatch.setenv("PROTOAGENT_DISABLE_MEMORY", "0")
    assert post(MORE) == WRITTEN


def test_the_configuration_can_forbid_summaries(settings: Any, instance: Instance) -> None:
    config = instance.config
    off = replace(config, middleware=replace(config.middleware, memory=False))
    settings.INSTANCE = replace(instance, config=off)
    assert post(HELLO) == TurnsKept(2, False, NoSummary.MEMORY_OFF)
    assert list(folder().iterdir()) == []


def test_an_incognito_turn_leaves_no_word_anywhere(instance: Instance) -> None:
    post(HELLO)
    before = (folder() / "chat-1.json").read_bytes()
    secret = [user("WHISPERED"), assistant("ANSWERED")]
    for session_id in ("chat-1", "chat-2"):
        answer = post(secret, session_id, incognito=True, terminal=True)
        assert answer == TurnsKept(0, False, NoSummary.INCOGNITO)
        assert is_incognito(session_id)
    assert (folder() / "chat-1.json").read_bytes() == before
    for path in instance.paths.instance_root.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert b"WHISPERED" not in content, path
        assert b"ANSWERED" not in content, path


SECRET = [user("WHISPERED"), assistant("ANSWERED")]


@pytest.mark.parametrize("posted", [SECRET, HELLO + SECRET], ids=["the new ones", "all of the conversation"])
@pytest.mark.parametrize("with_ids", [False, True])
def test_what_was_incognito_is_not_kept_when_all_of_the_conversation_is_posted(
    instance: Instance, posted: list[Any], with_ids: bool
) -> None:
    def told(messages: list[Any]) -> list[Any]:
        return [{**each, "id": each["content"]} for each in messages] if with_ids else messages

    post(told(HELLO))
    post(told(posted), incognito=True)
    assert post(told(HELLO + SECRET + MORE)) == WRITTEN
    assert kept() == said() == [(each["role"], each["content"]) for each in HELLO + MORE]
    assert post(told(HELLO + SECRET + MORE)) == TurnsKept(0, True)
    for path in instance.paths.instance_root.rglob("*"):
        assert b"WHISPERED" not in (path.read_bytes() if path.is_file() else b""), path


def test_what_is_hidden_is_hidden_in_its_thread_only() -> None:
    post(SECRET, incognito=True)
    assert post(SECRET, "chat-2") == WRITTEN


def test_a_hidden_message_that_repeats_a_kept_one_doubles_nothing() -> None:
    post(HELLO + MORE)
    post([user("And now?"), assistant("The same.")], incognito=True)
    assert post([*HELLO, *MORE, user("And now?"), assistant("The same."), user("Thanks")]).stored == 1
    assert [content for _, content in kept()] == ["Hello", "Hi", "And now?", "Now this.", "Thanks"]


def test_the_hidden_messages_of_a_thread_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden, "MOST", 3)
    for n in range(5):
        post([user(f"whisper {n}")], incognito=True)
    assert post([user(f"whisper {n}") for n in (2, 3, 4)]).stored == 0
    assert HiddenMessage.objects.count() == 3


def test_a_thread_is_as_incognito_as_its_latest_turn() -> None:
    post(HELLO, incognito=True)
    assert is_incognito("chat-1")
    assert post(MORE) == WRITTEN
    assert not is_incognito("chat-1")
    assert not is_incognito("chat-none")
    assert [content for _, content in said()] == ["And now?", "Now this."]


def test_an_id_that_another_file_has_but_for_its_case_gets_no_summary() -> None:
    put("Chat-1")
    answer = post(HELLO)
    assert (answer.stored, answer.summary_written, answer.reason) == (2, False, NoSummary.NOT_WRITTEN)
    assert "the session Chat-1 only by letter case" in answer.detail
    assert session_index.find("chat-1") is None


def test_an_id_too_long_for_a_file_keeps_its_turns() -> None:
    answer = post(HELLO, "a:" * 100)
    assert (answer.stored, answer.reason) == (2, NoSummary.NOT_WRITTEN)


def test_a_disk_that_refuses_loses_no_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        answer = post(HELLO)
    assert answer == TurnsKept(
        2, False, NoSummary.NOT_WRITTEN, "No summary was written: No space left on device."
    )
    assert session_index.find("chat-1") is None
    assert post(HELLO) == TurnsKept(0, True)


def test_a_working_state_is_what_was_last_told() -> None:
    state = WorkingState(
        goal=Goal("active", 2, 10, "tests pass", "write them"),
        tasks=(Task("t1", "open", "high", "Write tests", "chat-1"),),
        watches=(Watch("w1", "waiting", "The build"),),
        schedules=(Schedule("s1", "2026-12-02T09:00:00+00:00", "Say hello"),),
    )
    assert working_state_of("chat-1") == WorkingState()
    put_working_state("chat-1", state, AGENT)
    assert working_state_of("chat-1") == state
    post(HELLO)
    assert working_state_of("chat-1") == state
    put_working_state("chat-1", WorkingState(), AGENT)
    assert working_state_of("chat-1") == WorkingState()
    with pytest.raises(Invalid):
        put_working_state("../x", state, AGENT)


def test_posts_at_the_same_time_lose_no_message() -> None:
    def talk(number: int) -> None:
        for turn in range(5):
            post([user(f"{number}.{turn}", id=f"u{number}.{turn}"), assistant("Yes", id=f"a{number}.{turn}")])
        connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(talk, range(4)))
    expected = {f"{number}.{turn}" for number in range(4) for turn in range(5)}
    for messages in (kept(), said()):
        assert {content for role, content in messages if role == "user"} == expected
        assert len(messages) == 40


def test_an_incognito_turn_that_comes_in_between_leaves_no_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    real = threads._why_no_summary

    def slow(session_id: str, *, over: bool) -> NoSummary | None:
        post(MORE, incognito=True)
        return real(session_id, over=over)

    monkeypatch.setattr(threads, "_why_no_summary", slow)
    assert post(HELLO) == TurnsKept(2, False, NoSummary.INCOGNITO)
    assert list(folder().iterdir()) == []
