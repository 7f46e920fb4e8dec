"""The turns of conversations that are not retired, and the summary that each finished one leaves (SPEC 6)."""

import logging
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from knowledge.errors import Invalid
from knowledge.times import to_iso
from memory import session_index, summaries
from memory.hidden import hide, was_hidden
from memory.keeping import kept_text
from memory.models import Message, Thread
from memory.surfaces import is_background, surface_of
from memory.turns import Speaker, ToolRequest, Turn, parse_turn
from memory.types import NoSummary, SpokenMessage, Summary, ToolCall, TurnsKept
from protoconsole.actors import Actor
from protoconsole.databases import CONSOLE, write_transaction
from protoconsole.instance import current
from protoconsole.session_ids import ALLOWED, is_session_id

DISABLE_ENV = "PROTOAGENT_DISABLE_MEMORY"
TRUE = frozenset({"1", "true", "yes"})
SPOKEN = (Speaker.USER, Speaker.ASSISTANT)
MAX_TRACE_ID_CHARS = 200

_log = logging.getLogger("protoconsole.sessions")


def post_turns(
    session_id: str | None,
    messages: Sequence[Mapping[str, Any]],
    *,
    by: Actor,
    terminal: bool | None = None,
    incognito: bool = False,
    surface: str | None = None,
    trace_id: str | None = None,
) -> TurnsKept:
    """Keep what is new among the messages of a turn, and write the session's summary when the turn is over.

    A message is known by its id; without ids, what repeats the end of the thread is the same again. Incognito
    messages are not kept, neither now nor when they come again with the rest of the conversation.
    `terminal` says whether the turn is over; None: it is when its last message answers and waits for no tool.
    Raises Invalid naming the session id or the part of a message that cannot be read.
    """
    if not session_id:
        return TurnsKept(0, False, NoSummary.NO_SESSION)
    _check(session_id)
    turns = [_turn(raw, f"messages.{place}") for place, raw in enumerate(messages)]
    if incognito:
        _hide(session_id, turns, by)
        return TurnsKept(0, False, NoSummary.INCOGNITO)
    with write_transaction(CONSOLE):
        thread = _thread(session_id, by)
        _touch(thread, surface, trace_id)
        stored = _store(thread, turns)
    over = _is_over(turns) if terminal is None else terminal
    reason = _why_no_summary(session_id, over=over)
    return TurnsKept(stored, False, reason) if reason else _summarise(thread, stored)


def is_incognito(session_id: str) -> bool:
    """Say whether the latest turn of a thread was incognito."""
    return Thread.objects.filter(session_id=session_id, incognito=True).exists()


def _check(session_id: str) -> None:
    if not is_session_id(session_id):
        raise Invalid("session_id", f"must be {ALLOWED}")


def _turn(raw: Mapping[str, Any], field: str) -> Turn:
    if not isinstance(raw, Mapping):
        raise Invalid(field, "must be an object")
    return parse_turn(raw, field)


def _is_over(turns: Sequence[Turn]) -> bool:
    return bool(turns) and turns[-1].ends_a_turn


def _thread(session_id: str, by: Actor) -> Thread:
    return Thread.objects.get_or_create(session_id=session_id, defaults={"by": by.name})[0]


def _hide(session_id: str, turns: Sequence[Turn], by: Actor) -> None:
    with write_transaction(CONSOLE):
        thread = _thread(session_id, by)
        thread.incognito = True
        thread.updated_at = timezone.now()
        thread.save()
        hide(thread, map(_known_by, _new(thread, turns)))


def _touch(thread: Thread, surface: str | None, trace_id: str | None) -> None:
    thread.incognito = False
    thread.updated_at = timezone.now()
    if surface:
        thread.surface = surface_of(thread.session_id, surface)
    if trace_id:
        thread.trace_id = kept_text(trace_id)[:MAX_TRACE_ID_CHARS]
    thread.save()


def _store(thread: Thread, turns: Sequence[Turn]) -> int:
    new = _new(thread, turns)
    Message.objects.bulk_create(_row(thread, turn) for turn in new)
    return len(new)


def _new(thread: Thread, turns: Sequence[Turn]) -> list[Turn]:
    """Leave out what is known by its id, what was said incognito, and what repeats the end of the thread."""
    hidden = was_hidden(thread)
    told = _unknown(thread, turns)
    end = list(thread.messages.order_by("-id")[: len(told)])
    tail = [said for message in reversed(end) if not hidden(said := _read(message).said)]
    fresh = [turn for turn in told if not hidden(_known_by(turn))]
    return fresh[overlap(tail, [_known_by(turn) for turn in fresh]) :]


def _known_by(turn: Turn) -> tuple[object, ...]:
    return ("id", turn.id) if turn.id else turn.said


def _unknown(thread: Thread, turns: Sequence[Turn]) -> list[Turn]:
    """Leave out what says nothing and what an id shows to be known."""
    known = set(thread.messages.exclude(message_id="").values_list("message_id", flat=True))
    fresh = []
    for turn in turns:
        if not turn.says_nothing and turn.id not in known:
            fresh.append(turn)
            known |= {turn.id} - {""}
    return fresh


def overlap(tail: Sequence[Hashable], head: Sequence[Hashable]) -> int:
    """Return how many items at the end of one list are the beginning of the other, at most; in linear time."""
    items = [*head, object(), *tail]
    reach = [0] * len(items)
    for index in range(1, len(items)):
        length = reach[index - 1]
        while length and items[index] != items[length]:
            length = reach[length - 1]
        reach[index] = length + (items[index] == items[length])
    return reach[-1]


def _row(thread: Thread, turn: Turn) -> Message:
    return Message(
        thread=thread,
        message_id=turn.id,
        role=turn.speaker.value,
        content=turn.content,
        name=turn.name,
        tool_call_id=turn.tool_call_id,
        tool_calls=[asdict(call) for call in turn.tool_calls],
    )


def _read(message: Message) -> Turn:
    return Turn(
        id=message.message_id,
        speaker=Speaker(message.role),
        content=message.content,
        name=message.name,
        tool_call_id=message.tool_call_id,
        tool_calls=tuple(ToolRequest(**call) for call in message.tool_calls),
    )


def _why_no_summary(session_id: str, *, over: bool) -> NoSummary | None:
    reasons = (
        (NoSummary.BACKGROUND, is_background(session_id)),
        (NoSummary.DISABLED, os.environ.get(DISABLE_ENV, "").strip().lower() in TRUE),
        (NoSummary.MEMORY_OFF, not current().config.middleware.memory),
        (NoSummary.NOT_TERMINAL, not over),
    )
    return next((reason for reason, holds in reasons if holds), None)


def _summarise(thread: Thread, stored: int) -> TurnsKept:
    """Write what the thread holds now; the write lock keeps an older state from replacing a newer one."""
    try:
        with write_transaction(CONSOLE):
            thread.refresh_from_db()
            reason = _write(thread)
    except summaries.NotWritten as refusal:
        return TurnsKept(stored, False, NoSummary.NOT_WRITTEN, f"No summary was written: {refusal}.")
    except OSError as fault:
        _log.warning("no summary of the session %s was written: %s", thread.session_id, fault)
        return TurnsKept(stored, False, NoSummary.NOT_WRITTEN, f"No summary was written: {fault.strerror}.")
    return TurnsKept(stored, reason is None, reason)


def _write(thread: Thread) -> NoSummary | None:
    summary = _summary(thread)
    if thread.incognito or not summary.messages:
        return NoSummary.INCOGNITO if thread.incognito else NoSummary.EMPTY
    session_index.note_written(summaries.write(summary), summary)
    return None


def _summary(thread: Thread) -> Summary:
    turns = [_read(message) for message in thread.messages.all()]
    spoken = [turn for turn in turns if turn.speaker in SPOKEN and turn.content]
    answers = [turn.content for turn in spoken if turn.speaker is Speaker.ASSISTANT]
    return Summary(
        session_id=thread.session_id,
        trace_id=thread.trace_id or None,
        messages=[SpokenMessage(turn.speaker.value, turn.content) for turn in spoken],
        tool_calls=list(_tool_calls(turns)),
        tool_calls_total=None,
        final_output=answers[-1] if answers else "",
        timestamp=to_iso(thread.updated_at),
        surface=thread.surface or None,
    )


def _tool_calls(turns: Sequence[Turn]) -> Iterable[ToolCall]:
    results = {turn.tool_call_id: turn.content for turn in turns if turn.tool_call_id}
    for turn in turns:
        for call in turn.tool_calls:
            yield ToolCall(call.name, call.args, results.get(call.id, ""), call.duration_ms)
