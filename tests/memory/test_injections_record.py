"""What is recorded of a turn, and that it can be read back to the byte."""

import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge import services
from knowledge.adoption import Opening
from knowledge.errors import NotFound
from knowledge.types import NewChunk, TrustTier, Verdict
from memory.injections import queries, texts
from memory.injections.blocks import put_together, take_apart
from memory.injections.errors import LogUnwritable, TextDamaged
from memory.types import Delivered, LeftOut, Part, Projection, Reason
from protoconsole.databases import INJECTIONS, fetch
from protoconsole.instance import Instance
from tests.actors import OPERATOR
from tests.cases import cases
from tests.memory.turns import FORUM, NOON, always_on, hit, projected, recorded, told_of

pytestmark = pytest.mark.usefixtures("store")
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def mixed() -> Projection:
    return projected(
        told_of("chat-0", "chat-0 · 2026-11-30 · chat · tea · 4 msgs"),
        always_on(3, "- [hot] Speak plainly."),
        hit(7, "- [fact] The kettle is blue. (stored 2026-11-01; trust: external)"),
        hit("commons:9", "- [fact] Water boils at 100 degrees.", rank=2, source=None),
        left_out=[LeftOut(Part.HITS, 8, Reason.TRUST_FLOOR), LeftOut(Part.ALWAYS_ON, 4, Reason.CAP)],
    )


def test_a_row_has_the_other_programs_columns() -> None:
    turn_id = recorded(mixed())

    [row] = fetch(
        INJECTIONS,
        "SELECT id, ts, session_id, digest_session_ids, hot_chunk_ids, rag_chunk_ids, approx_tokens,"
        " rag_stage_counts FROM injections",
    )
    assert row[:3] == (turn_id, "2026-12-01T12:00:00+00:00", "chat-1")
    assert [json.loads(cell) for cell in row[3:6]] == [["chat-0"], [3], [7, "commons:9"]]
    assert row[6] == len(mixed().text) // 4
    assert json.loads(row[7]) == {
        "effective_top_k": 5,
        "retrieved": 1,
        "trust_filtered": 0,
        "final": 1,
        "rag_chunk_ids": [7, "commons:9"],
    }


def test_a_turn_is_told_as_it_was() -> None:
    detail = queries.turn(recorded(mixed(), turn_id="t-1"))

    assert [(item.part, item.ref, item.rank, item.score) for item in detail.items] == [
        ("prior_sessions", "chat-0", 1, None),
        ("always_on", 3, 1, None),
        ("hits", 7, 1, 0.75),
        ("hits", "commons:9", 2, 0.75),
    ]
    kettle = detail.items[2]
    assert kettle.words == "- [fact] The kettle is blue. (stored 2026-11-01; trust: external)"
    assert (kettle.tier, kettle.verdict, kettle.source) == (TrustTier.EXTERNAL, Verdict.PENDING, FORUM)
    assert list(detail.left_out) == list(mixed().left_out)
    assert (detail.left_out_total, detail.query) == (2, "what did the forum say?")
    kept = detail.turn.kept
    assert kept is not None
    assert (kept.key, kept.turn_id, kept.model, kept.window) == ("agent", "t-1", "small", 32_000)
    assert kept.tiers == {TrustTier.EXTERNAL: 2, TrustTier.AGENT: 0, TrustTier.OPERATOR: 1}
    assert (kept.budget.ceiling_chars, list(kept.sources)) == (16_000, [FORUM])
    assert kept.sections == mixed().sections


def test_a_text_is_given_back_to_the_byte() -> None:
    assert queries.text_of(recorded(mixed())) == mixed().text


@pytest.mark.parametrize("case", cases("hostile_text"), ids=lambda case: str(case)[:30])
def test_hostile_words_are_given_back_to_the_byte(case: object) -> None:
    words = case if isinstance(case, str) else str(next(iter(case.values())))  # type: ignore[attr-defined]
    text = f"<injected_memory>\n{words}\n</injected_memory>\r\n\x85\u2028{words}"

    detail_of = recorded(projected(hit(1, words), text=text))

    assert queries.text_of(detail_of) == text
    [item] = queries.turn(detail_of).items
    assert item.words == words


@given(ANY_TEXT, st.lists(st.tuples(st.sampled_from(Part), ANY_TEXT), max_size=6))
def test_any_text_is_put_together_again(text: str, entries: list[tuple[Part, str]]) -> None:
    delivered = [Delivered(part, n, n, words) for n, (part, words) in enumerate(entries)]
    whole = "\n".join([text, *(words for _, words in entries), text])

    pieces = take_apart(projected(*delivered, text=whole), "")

    assert put_together(pieces.blocks, pieces.texts.__getitem__) == whole


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(ANY_TEXT)
def test_any_text_survives_the_log(text: str) -> None:
    assert queries.text_of(recorded(projected(text=text))) == text


def test_entries_that_are_no_line_keep_their_words() -> None:
    state = Delivered(Part.WORKING_STATE, "goal", 1, "Goal:\n  make tea")

    detail = queries.turn(recorded(projected(state, hit(1, "- not in the text"), text="nothing")))

    assert [(item.ref, item.words) for item in detail.items] == [
        ("goal", "Goal:\n  make tea"),
        (1, "- not in the text"),
    ]


def test_words_that_repeat_are_stored_once() -> None:
    recorded(mixed())
    [(before,)] = fetch(INJECTIONS, "SELECT COUNT(*) FROM pc_texts")

    recorded(mixed(), minute=1)

    assert fetch(INJECTIONS, "SELECT COUNT(*) FROM pc_texts") == [(before,)]


def test_what_was_left_out_is_bounded_and_says_so() -> None:
    many = [LeftOut(Part.HITS, n, Reason.CAP) for n in range(1_000)]

    detail = queries.turn(recorded(projected(left_out=many)))

    assert (len(detail.left_out), detail.left_out_total) == (200, 1_000)
    assert list(detail.left_out) == many[:200]


def test_the_truth_stays_when_the_store_changes(instance: Instance) -> None:
    chunk = services.add(NewChunk("The kettle is blue.", source=FORUM), OPERATOR).chunk
    assert chunk is not None
    words = "- [general] The kettle is blue."
    turn_id = recorded(projected(hit(chunk.id, words)))
    services.delete(chunk.id, OPERATOR)
    instance.paths.knowledge_db.unlink()

    detail = queries.turn(turn_id)

    assert [(item.ref, item.words, item.source) for item in detail.items] == [(chunk.id, words, FORUM)]
    assert words in queries.text_of(turn_id)


def test_a_changed_word_is_never_shown_as_true() -> None:
    turn_id = recorded(projected(hit(1, "- pay Alice")))
    [(text_id,)] = [
        (row_id,)
        for row_id, sha in fetch(INJECTIONS, "SELECT id, sha FROM pc_texts")
        if texts.read(sha) == b"- pay Alice"
    ]
    other = take_apart(projected(hit(1, "- pay Mallory")), "")
    texts.keep(other.texts, 0)
    [(body,)] = [
        row
        for row in fetch(INJECTIONS, "SELECT body FROM pc_texts WHERE id > ?", (text_id,))
        if b"Mallory" in texts.zlib.decompress(row[0])
    ][:1]
    fetch(INJECTIONS, "UPDATE pc_texts SET body = ? WHERE id = ?", (body, text_id))

    with pytest.raises(TextDamaged):
        queries.text_of(turn_id)
    with pytest.raises(TextDamaged):
        queries.turn(turn_id)


def test_other_pieces_than_those_that_were_sent_are_refused() -> None:
    first, second = recorded(projected(hit(1, "- one"))), recorded(projected(hit(2, "- two")), minute=1)
    fetch(
        INJECTIONS,
        "UPDATE injections SET pc_blocks = (SELECT pc_blocks FROM injections WHERE id = ?) WHERE id = ?",
        (second, first),
    )

    with pytest.raises(TextDamaged, match=f"#{first}"):
        queries.text_of(first)


def test_there_is_no_text_of_a_turn_that_never_was() -> None:
    with pytest.raises(NotFound):
        queries.text_of(999)


class TestUnwritable:
    def test_a_log_that_another_program_holds(
        self, instance: Instance, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("memory.injections.record.PATIENCE_S", 0.05)
        with closing(sqlite3.connect(instance.paths.injection_log, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LogUnwritable):
                recorded(mixed())
            other.execute("ROLLBACK")

        assert recorded(mixed()) == 1

    def test_a_log_without_its_tables(self) -> None:
        fetch(INJECTIONS, "DROP TABLE pc_texts")

        with pytest.raises(LogUnwritable):
            recorded(mixed())
        assert fetch(INJECTIONS, "SELECT COUNT(*) FROM injections") == [(0,)]

    def test_a_key_that_cannot_be_read(self, instance: Instance) -> None:
        key = instance.paths.instance_root / "log.key"
        key.unlink()
        key.mkdir()

        with pytest.raises(LogUnwritable):
            recorded(mixed())

    def test_a_lone_surrogate(self) -> None:
        with pytest.raises(LogUnwritable):
            recorded(projected(text="\ud800"))

    def test_a_note_that_cannot_be_written_costs_no_row(self, instance: Instance) -> None:
        note = instance.paths.injection_log.with_name("memory-injections.db.head")
        note.unlink()
        note.mkdir()

        assert recorded(mixed()) == 1


class TestTurnIds:
    def test_a_retry_finds_its_answer(self) -> None:
        recorded(mixed(), turn_id="t-1")
        second = recorded(mixed(), turn_id="t-2", minute=1)

        assert queries.stored_answer("agent", "t-2") == second
        assert queries.stored_answer("another", "t-2") is None
        assert queries.stored_answer("agent", "t-3") is None

    def test_the_newest_of_one_id_counts(self) -> None:
        recorded(mixed(), turn_id="t-1")
        again = recorded(mixed(), turn_id="t-1", minute=1)

        assert queries.stored_answer("agent", "t-1") == again

    def test_it_is_found_by_index(self) -> None:
        plan = fetch(
            INJECTIONS,
            "EXPLAIN QUERY PLAN SELECT id FROM injections WHERE pc_turn_id = ? AND pc_key = ?"
            " ORDER BY id DESC LIMIT 1",
            ("t", "k"),
        )

        assert [row[3] for row in plan] == [
            "SEARCH injections USING COVERING INDEX pc_injections_answer (pc_turn_id=? AND pc_key=?)"
        ]


def test_the_first_turn_is_at_the_given_time(store: Opening) -> None:
    recorded(mixed())

    [turn] = queries.turns(queries.TurnQuery()).items
    assert turn.ts == NOON.isoformat()
