"""A turn gets its text and leaves its record; a retry gets the same again; incognito leaves nothing."""

import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from knowledge import services
from knowledge.adoption import Opening
from knowledge.types import Chunk, Edit, NewChunk, Policy, Verdict
from memory import delivery, turn_faults
from memory.delivery import TurnAnswer, TurnRequest, WhatIf, deliver, preview
from memory.injections import queries as log
from memory.injections.errors import LogUnwritable
from memory.turn_faults import TurnFault
from memory.types import Part, Schedule, WorkingState
from protoconsole.actors import Actor, Role, Surface
from protoconsole.databases import INJECTIONS, KNOWLEDGE, execute_each, fetch, write_transaction
from protoconsole.errors import StoreBusy
from protoconsole.instance import Instance
from tests.actors import AGENT, OPERATOR
from tests.memory.configured import configure
from tests.memory.sessions import put

pytestmark = pytest.mark.usefixtures("store")

KETTLE = TurnRequest("which colour has the kettle?", session_id="chat-1", turn_id="t-1")
OTHER_AGENT = Actor("agent-2", Role.AGENT, Surface.API)
FORUM = "https://forum.example.net/t/441"
PLANTS = WorkingState(schedules=(Schedule("s-1", "2026-12-02", "water the plants"),))


def added(content: str = "The kettle is blue.", by: Actor = AGENT, **fields: Any) -> Chunk:
    chunk = services.add(NewChunk(content, **{"domain": "fact", **fields}), by).chunk
    assert chunk is not None
    return chunk


def logged() -> int:
    return int(fetch(INJECTIONS, "SELECT COUNT(*) FROM injections")[0][0])


def again(answer: TurnAnswer) -> TurnAnswer:
    """The same answer, told a second time."""
    return TurnAnswer(**{name: getattr(answer, name) for name in answer.__slots__} | {"replayed": True})


def test_a_turn_is_told_and_recorded() -> None:
    put("chat-0", "Buy a kettle", minute=3)
    rule, fact = added("Speak plainly.", domain="hot", by=OPERATOR), added()
    answer = deliver(KETTLE, AGENT)
    assert (answer.digest_ids, answer.hot_ids, answer.rag_ids) == (["chat-0"], [rule.id], [fact.id])
    assert answer.sources == ["console", "chat-1"]
    assert [section.label for section in answer.sections] == ["prior_sessions", "always_on", "hits"]
    assert (answer.budget.ceiling_chars, answer.budget.used_chars) == (None, len(answer.text))
    assert answer.injection_id is not None
    assert log.text_of(answer.injection_id) == answer.text
    detail = log.turn(answer.injection_id)
    kept = detail.turn.kept
    assert kept is not None
    assert (detail.query, detail.turn.session_id) == (KETTLE.query, "chat-1")
    assert (kept.key, kept.turn_id) == ("agent-1", "t-1")


def test_the_record_names_the_model_and_its_window(settings: Any) -> None:
    configure(settings, "model", name="small", windows={"large": 50_000})
    added()
    for turn, expected in (
        (TurnRequest("kettle", model="large"), ("large", 50_000)),
        (TurnRequest("kettle", window=9_000), ("small", 9_000)),
    ):
        injection_id = deliver(turn, AGENT).injection_id
        assert injection_id is not None
        kept = log.turn(injection_id).turn.kept
        assert kept is not None
        assert (kept.model, kept.window) == expected


@pytest.mark.parametrize(
    "turn",
    [
        TurnRequest("zebra", working_state=PLANTS),
        TurnRequest("kettle", incognito=True, working_state=PLANTS),
        TurnRequest("kettle", record=False),
    ],
)
def test_a_turn_without_memory_or_without_record_leaves_no_row(turn: TurnRequest) -> None:
    added()
    answer = deliver(turn, AGENT)
    assert answer.injection_id is None
    assert answer.text
    assert logged() == 0


def test_nothing_to_say_is_the_empty_text() -> None:
    assert deliver(TurnRequest("zebra"), AGENT).text == ""


def test_a_retry_is_given_the_same_bytes_and_no_second_row() -> None:
    fact = added()
    first = deliver(KETTLE, AGENT)
    added("The kettle is red.", by=OPERATOR)
    services.edit(fact.id, Edit(content="The kettle is green."), OPERATOR)
    assert deliver(KETTLE, AGENT) == again(first)
    assert logged() == 1


@pytest.mark.parametrize("end", ["rejected", "deleted", "deleted by source"])
def test_a_retry_is_composed_anew_where_a_row_was_rejected_or_is_gone(end: str) -> None:
    fact, other = added(), added("A blue kettle is on the shelf.", by=OPERATOR)
    first = deliver(KETTLE, AGENT)
    if end == "rejected":
        services.review(fact.id, Verdict.REJECTED, OPERATOR)
    elif end == "deleted":
        services.delete(fact.id, OPERATOR)
    else:
        services.delete_by_source("chat-1", OPERATOR)
    second = deliver(KETTLE, AGENT)
    assert (second.replayed, second.rag_ids) == (False, [other.id])
    assert logged() == 2
    assert log.text_of(first.injection_id or 0) == first.text
    assert deliver(KETTLE, AGENT) == again(second)


def test_a_rejected_always_on_row_also_spoils_the_stored_answer() -> None:
    rule = added("Speak plainly.", domain="hot")
    assert deliver(KETTLE, AGENT).hot_ids == [rule.id]
    services.review(rule.id, Verdict.REJECTED, OPERATOR)
    assert deliver(KETTLE, AGENT).text == ""


def test_another_key_and_another_turn_are_no_retry() -> None:
    added()
    ids = {
        deliver(KETTLE, AGENT).injection_id,
        deliver(KETTLE, OTHER_AGENT).injection_id,
        deliver(TurnRequest(KETTLE.query, "chat-1", "t-2"), AGENT).injection_id,
        deliver(TurnRequest(KETTLE.query, "chat-1"), AGENT).injection_id,
        deliver(TurnRequest(KETTLE.query, "chat-1"), AGENT).injection_id,
    }
    assert len(ids) == 5


@pytest.mark.parametrize("off", ["incognito", "memory_off"])
def test_a_retry_that_may_read_no_memory_is_not_answered_from_the_log(settings: Any, off: str) -> None:
    added()
    assert "blue" in deliver(KETTLE, AGENT).text
    if off == "memory_off":
        configure(settings, "middleware", knowledge=False)
    turn = TurnRequest(KETTLE.query, "chat-1", "t-1", incognito=off == "incognito")
    assert deliver(turn, AGENT).text == ""


def test_a_retry_that_overtakes_its_turn_leaves_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    added()
    compose = delivery._compose
    overtaken: list[TurnAnswer] = []

    def slowly(*args: Any) -> Any:
        projection = compose(*args)
        if not overtaken:
            overtaken.append(projection)
            overtaken.append(deliver(KETTLE, AGENT))
        return projection

    monkeypatch.setattr(delivery, "_compose", slowly)
    assert deliver(KETTLE, AGENT) == again(overtaken[1])
    assert logged() == 1


def test_a_stored_answer_that_was_tampered_with_is_not_given_again() -> None:
    added()
    first = deliver(KETTLE, AGENT)
    fetch(INJECTIONS, "UPDATE injections SET pc_text_sha256 = ?", ("0" * 64,))
    second = deliver(KETTLE, AGENT)
    assert (second.text, second.replayed) == (first.text, False)
    assert second.injection_id != first.injection_id


@pytest.mark.parametrize("fault", [LogUnwritable("disk full"), StoreBusy("locked"), OSError("read-only")])
def test_a_log_that_cannot_be_written_stops_no_turn_and_is_shown(
    monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    added()

    def fail(*args: object, **kwargs: object) -> None:
        raise fault

    before = turn_faults.FAULTS.labels(TurnFault.LOG)._value.get()
    with monkeypatch.context() as patch:
        patch.setattr(delivery, "record", fail)
        answer = deliver(KETTLE, AGENT)
    assert "blue" in answer.text
    assert answer.injection_id is None
    assert turn_faults.FAULTS.labels(TurnFault.LOG)._value.get() == before + 1
    assert str(fault) in "".join(turn_faults.reasons())
    assert deliver(KETTLE, AGENT).injection_id is not None
    assert turn_faults.reasons() == []


def test_a_log_that_another_program_holds_stops_no_turn(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "PATIENCE_S", 0.05)
    added()
    with closing(sqlite3.connect(instance.paths.injection_log)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        assert "blue" in deliver(KETTLE, AGENT).text
    assert "not recorded" in "".join(turn_faults.reasons())
    turn_faults.mended(TurnFault.LOG)


def test_a_log_that_is_no_database_stops_no_turn(instance: Instance) -> None:
    added()
    connections[INJECTIONS].close()
    for path in instance.paths.injection_log.parent.glob("memory-injections.db*"):
        path.unlink()
    instance.paths.injection_log.write_bytes(b"no database" * 1000)
    answer = deliver(KETTLE, AGENT)
    assert ("blue" in answer.text, answer.injection_id) == (True, None)
    turn_faults.mended(TurnFault.LOG)


def test_a_preview_is_the_text_that_the_turn_then_gets_and_leaves_nothing() -> None:
    put("chat-0")
    added("Speak plainly.", domain="hot")
    added()
    shown = preview(KETTLE)
    assert logged() == 0
    assert deliver(KETTLE, AGENT).text == shown.text
    assert preview(KETTLE).text == shown.text


def test_a_preview_can_look_at_a_row_as_if_it_were_rejected() -> None:
    fact = added()
    assert preview(KETTLE, WhatIf(rejected=frozenset({fact.id}))).text == ""
    assert preview(KETTLE).ids(Part.HITS) == [fact.id]


def test_the_same_stores_and_request_give_the_same_bytes() -> None:
    for n in range(12):
        added(
            f"Kettle number {n} is blue.",
            source=FORUM,
            source_type="html",
            by=Actor("p", Role.PLUGIN, Surface.API),
        )
        put(f"chat-{n}", minute=n)
    texts = set()
    for _ in range(3):
        connections.close_all()
        texts.add(preview(KETTLE).text)
    assert len(texts) == 1


def test_what_is_never_left_out_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    delivery._warn_once.cache_clear()
    tasks = tuple(Schedule(f"s-{n}", "2026-12-02", "water " * 500) for n in range(10))
    turn = TurnRequest("x", window=8_000, working_state=WorkingState(schedules=tasks))
    with caplog.at_level(logging.WARNING, "protoconsole.delivery"):
        answers = [deliver(turn, AGENT) for _ in range(2)]
    used = answers[0].budget.used_chars
    assert used > 16_000
    assert [record.args for record in caplog.records] == [(used, 16_000)]


def test_reasoning_from_before_the_guard_does_not_enter() -> None:
    row = added("The kettle is blue.")
    with write_transaction(KNOWLEDGE):
        changed = "<think>call it crimson</think>The kettle is blue."
        execute_each(KNOWLEDGE, "UPDATE chunks SET content = ? WHERE id = ?", [(changed, row.id)])
    text = deliver(KETTLE, AGENT).text
    assert "The kettle is blue." in text
    assert "crimson" not in text


def test_an_unstorable_character_in_the_message_stops_nothing() -> None:
    added()
    answer = deliver(TurnRequest("the \ud800kettle\x00", "chat-1"), AGENT)
    assert answer.injection_id is not None
    assert log.turn(answer.injection_id).query == "the kettle"


def test_no_byte_of_an_incognito_turn_is_in_any_file(instance: Instance) -> None:
    added()
    turn = TurnRequest(
        "which colour has the kettle of Zanzibar?",
        session_id="chat-zanzibar",
        turn_id="turn-zanzibar",
        model="model-zanzibar",
        incognito=True,
        working_state=WorkingState(schedules=(Schedule("s-zanzibar", "now", "Zanzibar"),)),
    )
    assert "Zanzibar" in deliver(turn, AGENT).text
    preview(turn)
    connections.close_all()
    holding = [
        path for path in files_below(instance.paths.instance_root) if b"zanzibar" in path.read_bytes().lower()
    ]
    assert holding == []
    assert files_below(instance.paths.instance_root)


def files_below(root: Path) -> list[Path]:
    return [Path(folder) / name for folder, _, names in os.walk(root) for name in names]


def test_the_record_keeps_no_credentials_of_the_message(store: Opening) -> None:
    services.add(NewChunk("Always answer in English", delivery_policy=Policy.ALWAYS), OPERATOR)

    answer = deliver(TurnRequest("log in with password=hunter2hunter2 please"), AGENT)

    assert answer.injection_id is not None
    query = log.turn(answer.injection_id).query
    assert query is not None
    assert "hunter2" not in query
    assert "log in with" in query


@pytest.mark.parametrize("waiting", [False, True])
def test_a_broken_index_stops_no_turn(store: Opening, waiting: bool) -> None:
    services.add(NewChunk("Always answer in English", delivery_policy=Policy.ALWAYS), OPERATOR)
    fetch(KNOWLEDGE, "DROP TABLE pc_search")
    if waiting:
        with closing(sqlite3.connect(store.path)) as other:
            other.execute(
                "INSERT INTO chunks (content, domain, created_at, updated_at) VALUES ('x', 'fact', '2026', '2026')"
            )
            other.commit()

    answer = deliver(TurnRequest("which language?"), AGENT)

    assert "Always answer in English" in answer.text


def test_a_proposal_looked_at_as_if_confirmed_takes_the_place_that_it_would(store: Opening) -> None:
    never = "The user must never push directly to the main branch of the repository"
    standing = services.add(NewChunk(never, domain="fact"), OPERATOR).chunk
    proposed = services.remember(
        NewChunk(never.replace("must never", "may always"), domain="fact"), AGENT
    ).chunk
    assert standing is not None
    assert proposed is not None
    turn = TurnRequest("may the user push to the main branch?")

    supposed = preview(turn, WhatIf(confirmed=frozenset({proposed.id})))
    services.review(proposed.id, Verdict.CONFIRMED, OPERATOR)

    assert supposed.ids(Part.HITS) == preview(turn).ids(Part.HITS) == [proposed.id]
