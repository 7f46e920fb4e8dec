"""Turns are found from every side, whoever wrote them."""

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from knowledge.adoption import Opening
from knowledge.errors import Invalid
from knowledge.types import TrustTier
from memory.injections import index, queries
from memory.injections.types import Given, TurnQuery
from protoconsole.databases import INJECTIONS, fetch
from protoconsole.instance import Instance
from tests.memory.turns import FORUM, NOON, always_on, hit, projected, recorded, told_of

pytestmark = pytest.mark.usefixtures("store")


def found(query: TurnQuery) -> list[int]:
    return [turn.id for turn in queries.turns(query).items]


def append_plainly(path: Path, *rows: tuple[object, ...]) -> None:
    """Append as the other program does: ts, session, digest, always-on and hit ids."""
    with closing(sqlite3.connect(path)) as other, other:
        other.executemany(
            "INSERT INTO injections (ts, session_id, digest_session_ids, hot_chunk_ids, rag_chunk_ids)"
            " VALUES (?, ?, ?, ?, ?)",
            rows,
        )


@pytest.fixture
def three_turns(store: Opening) -> None:
    """Row 3 is always on; the forum's row 7 is in the first two turns, one of the commons in the last."""
    recorded(projected(always_on(3, "- always"), hit(7, "- forum")), "chat-1", minute=1)
    recorded(projected(always_on(3, "- always"), hit(7, "- forum")), "chat-2", minute=2)
    last = (told_of("chat-2", "chat-2 · tea"), always_on(3, "- always"), hit("commons:7", "- shared"))
    recorded(projected(*last), "chat-1", minute=3)


@pytest.mark.usefixtures("three_turns")
class TestBothDirections:
    @pytest.mark.parametrize(
        ("query", "ids"),
        [
            (TurnQuery(), [3, 2, 1]),
            (TurnQuery(session_id="chat-1"), [3, 1]),
            (TurnQuery(session_id="chat-3"), []),
            (TurnQuery(ref=3), [3, 2, 1]),
            (TurnQuery(ref=7), [2, 1]),
            (TurnQuery(ref="commons:7"), [3]),
            (TurnQuery(ref="7"), []),
            (TurnQuery(ref=99), []),
            (TurnQuery(told_of="chat-2"), [3]),
            (TurnQuery(session_id="chat-1", ref=7), [1]),
            (TurnQuery(session_id="chat-1", ref=3, told_of="chat-2"), [3]),
            (TurnQuery(since=NOON + timedelta(minutes=2)), [3, 2]),
            (TurnQuery(until=NOON + timedelta(minutes=2)), [2, 1]),
            (TurnQuery(ref=3, since=NOON + timedelta(seconds=61), until=NOON + timedelta(seconds=179)), [2]),
        ],
    )
    def test_turns_are_found(self, query: TurnQuery, ids: list[int]) -> None:
        assert found(query) == ids

    def test_pages_follow_each_other(self) -> None:
        first = queries.turns(TurnQuery(ref=3), limit=2)
        rest = queries.turns(TurnQuery(ref=3), limit=2, cursor=first.next)

        assert [turn.id for turn in (*first.items, *rest.items)] == [3, 2, 1]
        assert (first.next is None, rest.next) == (False, None)

    @pytest.mark.parametrize("cursor", ["", "1", "-", "a-1", "1-b", "1-" + "9" * 40, "１-1", "1;2"])
    def test_a_cursor_that_no_list_gave_is_refused(self, cursor: str) -> None:
        with pytest.raises(Invalid):
            queries.turns(TurnQuery(), cursor=cursor)

    @pytest.mark.parametrize("limit", [0, 201])
    def test_a_page_is_bounded(self, limit: int) -> None:
        with pytest.raises(Invalid):
            queries.turns(TurnQuery(), limit=limit)

    def test_turns_of_a_chunk_are_counted(self) -> None:
        counted = queries.count_of(7)

        assert (counted.count, counted.first, counted.last) == (
            2,
            "2026-12-01T12:01:00+00:00",
            "2026-12-01T12:02:00+00:00",
        )
        assert queries.count_of(99) == queries.Entered(0, None, None)

    def test_a_row_that_another_program_removed_is_no_fault(self) -> None:
        fetch(INJECTIONS, "DELETE FROM injections WHERE id = 2")

        assert found(TurnQuery()) == [3, 1]

    def test_no_list_reads_the_whole_log(self) -> None:
        plans = [
            "SELECT at, injection_id FROM pc_injection_items AS i WHERE kind = 2 AND ref = 3 AND at >= 1"
            " AND at <= 9 AND (at, injection_id) < (5, 5) ORDER BY at DESC, injection_id DESC LIMIT 51",
            "SELECT ref FROM pc_injection_given WHERE session_id = 's' AND at < 9",
        ]
        for sql in plans:
            steps = [row[3] for row in fetch(INJECTIONS, f"EXPLAIN QUERY PLAN {sql}")]
            assert len(steps) == 1 and steps[0].startswith("SEARCH"), steps


class TestReadBefore:
    def test_what_a_session_had_been_given(self) -> None:
        recorded(projected(hit(7, "- forum")), "chat-1", minute=1)
        recorded(projected(hit(7, "- forum"), always_on(3, "- always")), "chat-1", minute=2)
        recorded(projected(hit(8, "- elsewhere")), "chat-2", minute=2)
        recorded(projected(hit(9, "- later")), "chat-1", minute=5)

        assert queries.read_before("chat-1", NOON + timedelta(minutes=5)) == [
            Given(7, 1, "2026-12-01T12:01:00+00:00", TrustTier.EXTERNAL, FORUM),
            Given(3, 2, "2026-12-01T12:02:00+00:00", TrustTier.OPERATOR, None),
        ]

    def test_the_moment_itself_is_not_before(self) -> None:
        recorded(projected(hit(7, "- forum")), "chat-1", minute=1)

        assert queries.read_before("chat-1", NOON + timedelta(minutes=1)) == []

    def test_what_another_program_gave_earlier_counts(self, instance: Instance) -> None:
        append_plainly(instance.paths.injection_log, (NOON.isoformat(), "chat-1", "[]", "[]", "[7]"))
        recorded(projected(hit(7, "- forum")), "chat-1", minute=1)

        [given] = queries.read_before("chat-1", NOON + timedelta(days=1))

        assert (given.ref, given.injection_id, given.tier) == (7, 1, None)


class TestAnotherProgram:
    def test_its_rows_are_found_without_a_restart(self, instance: Instance, three_turns: None) -> None:
        append_plainly(
            instance.paths.injection_log,
            ("2026-12-01T12:00:30Z", "chat-1", '["chat-2"]', "[3]", "[7, 7]"),
        )

        assert found(TurnQuery(ref=7)) == [2, 1, 4]
        assert found(TurnQuery(session_id="chat-1")) == [3, 1, 4]
        assert queries.count_of(7).first == "2026-12-01T12:00:30+00:00"
        detail = queries.turn(4)
        assert (detail.turn.legacy, detail.query) == (True, None)
        assert [(item.part, item.ref, item.words) for item in detail.items] == [
            ("prior_sessions", "chat-2", None),
            ("always_on", 3, None),
            ("hits", 7, None),
            ("hits", 7, None),
        ]

    def test_rows_between_ours_are_not_passed_over(self, instance: Instance) -> None:
        append_plainly(instance.paths.injection_log, (NOON.isoformat(), "chat-1", "[]", "[]", "[7]"))
        recorded(projected(hit(8, "- mine")), minute=1)
        append_plainly(instance.paths.injection_log, (NOON.isoformat(), "chat-1", "[]", "[]", "[7]"))
        recorded(projected(hit(8, "- mine")), minute=2)

        assert found(TurnQuery(ref=7)) == [3, 1]
        assert found(TurnQuery(ref=8)) == [4, 2]
        assert index.pending() == 0

    @pytest.mark.parametrize(
        "cell",
        [
            "",
            "nonsense",
            "{}",
            "7",
            "null",
            "[" * 100_000,
            '["\\ud800", null, 1.5, true, [7], {"a": 1}, 99999999999999999999]',
            b"\xff\xfe",
            12,
        ],
        ids=str,
    )
    def test_cells_that_are_no_list_stop_nothing(self, instance: Instance, cell: object) -> None:
        append_plainly(instance.paths.injection_log, ("never", "chat-1", cell, cell, cell))
        recorded(projected(hit(8, "- mine")), minute=1)

        assert found(TurnQuery()) == [2, 1]
        assert queries.turn(1).items == []

    def test_texts_that_are_not_utf_8_stop_nothing(self, instance: Instance) -> None:
        with closing(sqlite3.connect(instance.paths.injection_log)) as other, other:
            other.execute(
                "INSERT INTO injections (ts, session_id, hot_chunk_ids) VALUES (CAST(x'ff' AS TEXT),"
                " CAST(x'ff' AS TEXT), '[5]')"
            )

        assert found(TurnQuery(ref=5)) == [1]

    def test_a_long_backlog_is_worked_off_in_pieces(
        self, instance: Instance, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(index, "BEFORE_A_READ", 0)
        rows = [(NOON.isoformat(), f"chat-{n}", "[]", "[]", json.dumps([n])) for n in range(1, 1_201)]
        append_plainly(instance.paths.injection_log, *rows)

        assert (found(TurnQuery(ref=1_200)), index.pending()) == ([], 1_200)
        assert [index.catch_up() for _ in range(4)] == [500, 500, 200, 0]
        assert (found(TurnQuery(ref=1_200)), index.pending()) == ([1_200], 0)

    def test_a_busy_log_is_read_without_waiting(
        self, instance: Instance, store: Opening, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        recorded(projected(hit(8, "- mine")))
        append_plainly(instance.paths.injection_log, (NOON.isoformat(), "chat-1", "[]", "[]", "[8]"))
        monkeypatch.setattr(index, "READ_PATIENCE_S", 0.01)
        with closing(sqlite3.connect(instance.paths.injection_log, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert found(TurnQuery(ref=8)) == [1]
            other.execute("ROLLBACK")

        assert found(TurnQuery(ref=8)) == [2, 1]
