"""Whatever is done to the log behind its back shows, and what is innocent does not."""

import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connections
from pytest_django.fixtures import Settings

from memory.injections import chain, checkup, head, index, queries, retention
from memory.injections.adoption import open_log
from memory.injections.errors import ChainBroken, TextDamaged
from memory.injections.types import TurnQuery
from protoconsole.databases import INJECTIONS, fetch
from protoconsole.findings import Finding
from protoconsole.instance import Instance, load_instance
from tests.memory.turns import NOON, hit, projected, recorded, recorded_many
from tests.processes.harness import environment

pytestmark = pytest.mark.usefixtures("store")


def findings() -> dict[str, Finding]:
    return {finding.name: finding for finding in checkup.examine()}


def faults() -> dict[str, str]:
    return {name: finding.detail for name, finding in findings().items() if not finding.ok}


def plainly(instance: Instance, *statements: str) -> None:
    """Change the file the way anybody with SQLite would."""
    with closing(sqlite3.connect(instance.paths.injection_log)) as other, other:
        for statement in statements:
            other.execute(statement)


def append_as_another_program(instance: Instance, session_id: str = "chat-9", ts: str = "") -> None:
    plainly(
        instance,
        "INSERT INTO injections (ts, session_id, digest_session_ids, hot_chunk_ids, rag_chunk_ids,"
        f" approx_tokens) VALUES ('{ts or NOON.isoformat()}', '{session_id}', '[\"chat-2\"]', '[3]', '[5]', 40)",
    )


def test_an_untouched_log_is_sound(instance: Instance) -> None:
    recorded_many(3)

    assert faults() == {}
    assert findings()["injection chain"].detail == "3 rows chained, 0 of another program unchained"


def test_a_log_without_rows_is_sound(instance: Instance) -> None:
    assert faults() == {}


def test_the_key_is_private_and_not_in_the_log(instance: Instance) -> None:
    recorded_many(1)
    key = instance.paths.instance_root / "log.key"

    assert (len(key.read_bytes()), key.stat().st_mode & 0o777) == (32, 0o600)
    assert head.path().stat().st_mode & 0o777 == 0o600
    connections[INJECTIONS].close()
    assert key.read_bytes() not in instance.paths.injection_log.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        "session_id = 'chat-2'",
        "ts = '2026-12-01T12:02:00+00:01'",
        "rag_chunk_ids = '[3]'",
        "hot_chunk_ids = '[ ]'",
        "digest_session_ids = '[1]'",
        "approx_tokens = approx_tokens + 1",
        "approx_tokens = CAST(approx_tokens AS BLOB)",
        "rag_stage_counts = NULL",
        "pc_key = 'another'",
        "pc_turn_id = ''",
        "pc_model = 'large'",
        "pc_window = NULL",
        "pc_query = zeroblob(32)",
        "pc_text_sha256 = upper(pc_text_sha256)",
        "pc_blocks = x''",
        "pc_beside = zeroblob(32)",
        "pc_left_out = zeroblob(32)",
        "pc_about = pc_about || ' '",
        "pc_mac = zeroblob(32)",
        "pc_mac = NULL",
        "session_id = CAST(x'ff' AS TEXT)",
    ],
)
def test_a_row_with_one_thing_changed_is_named(instance: Instance, change: str) -> None:
    recorded_many(4)

    plainly(instance, f"UPDATE injections SET {change} WHERE id = 2")

    assert faults()["injection chain"] == "broken at row #2: it is not as it was written"
    assert [turn.id for turn in queries.turns(TurnQuery()).items][-1] == 1


@pytest.mark.parametrize(
    "change",
    [
        "pc_about = '[]'",
        "pc_about = NULL",
        "pc_blocks = 'text'",
        "pc_blocks = pc_query",
        "pc_beside = pc_query",
        "pc_left_out = pc_query",
        "pc_query = zeroblob(32)",
    ],
)
def test_a_row_made_unreadable_is_damage_and_no_crash(instance: Instance, change: str) -> None:
    [turn_id] = recorded_many(1)

    plainly(instance, f"UPDATE injections SET {change}")

    assert [turn.id for turn in queries.turns(TurnQuery()).items] == [turn_id]
    for read in (queries.turn, queries.text_of):
        with suppress(TextDamaged):
            read(turn_id)


def test_a_chain_rewritten_without_the_key_is_named(instance: Instance) -> None:
    recorded_many(4)
    fetch(INJECTIONS, "UPDATE injections SET session_id = 'chat-2' WHERE id = 2")
    before = chain.at(1)
    assert before is not None
    for row_id in (2, 3, 4):
        before = chain.append(row_id, b"a guess", before)

    assert faults()["injection chain"] == "broken at row #2: it is not as it was written"
    assert faults()["injection head"] == (
        "row #4 is not the row that was noted, so the end of the log was replaced"
    )


def test_a_row_deleted_in_the_middle_is_named(instance: Instance) -> None:
    recorded_many(4)

    plainly(instance, "DELETE FROM injections WHERE id = 2")

    assert faults()["injection chain"] == (
        "broken at row #3: rows are missing or out of order after row #1 (number 2 is wanted)"
    )


def test_a_row_disguised_as_another_programs_is_missed(instance: Instance) -> None:
    recorded_many(4)

    plainly(instance, "UPDATE injections SET pc_seq = NULL, pc_mac = NULL WHERE id = 2")

    assert "after row #1" in faults()["injection chain"]


@pytest.mark.parametrize("lost", [1, 2, 4])
def test_a_cut_tail_is_named(instance: Instance, lost: int) -> None:
    recorded_many(4)

    plainly(instance, f"DELETE FROM injections WHERE id > {4 - lost}")

    detail = faults()["injection head"]
    assert detail.startswith(f"the log ends at row #{4 - lost}, but row #4 was written: {lost} rows were cut")


def test_a_cut_tail_is_not_forgotten_when_turns_go_on(instance: Instance) -> None:
    recorded_many(4)
    plainly(instance, "DELETE FROM injections WHERE id > 2")

    for minute in range(10, 14):
        recorded(projected(hit(1, "- later")), minute=minute)

    assert faults()["injection head"].startswith("row #4 is not the row that was noted")


def test_two_rows_swapped_are_named(instance: Instance) -> None:
    recorded_many(4)

    plainly(
        instance,
        "UPDATE injections SET id = 99 WHERE id = 2",
        "UPDATE injections SET id = 2 WHERE id = 3",
        "UPDATE injections SET id = 3 WHERE id = 99",
    )

    assert faults()["injection chain"] == "broken at row #3: it is not as it was written"


def test_numbers_swapped_too_are_named(instance: Instance) -> None:
    recorded_many(4)

    plainly(instance, "UPDATE injections SET pc_seq = 5 - pc_seq WHERE id IN (2, 3)")

    assert faults()["injection chain"] == "broken at row #3: it is not as it was written"


def test_an_old_copy_in_place_of_the_log_is_named(instance: Instance) -> None:
    log = instance.paths.injection_log
    recorded_many(2)
    fetch(INJECTIONS, "PRAGMA wal_checkpoint(TRUNCATE)")
    old = log.read_bytes()
    recorded_many(3)
    connections[INJECTIONS].close()
    log.write_bytes(old)

    detail = faults()["injection head"]

    assert detail.startswith("the log ends at row #2, but row #5 was written: 3 rows were cut")
    assert "an older copy was put in its place" in detail


def test_a_new_log_in_place_of_the_old_is_named(instance: Instance) -> None:
    recorded_many(2)
    connections[INJECTIONS].close()
    instance.paths.injection_log.unlink()

    open_log()

    assert "but row #2 was written" in faults()["injection head"]


def test_a_log_that_is_gone_is_named(instance: Instance) -> None:
    recorded_many(2)
    connections[INJECTIONS].close()
    instance.paths.injection_log.unlink()

    assert faults()["injection log"].endswith("is gone, but the head of its chain was noted")
    assert not instance.paths.injection_log.exists()


def test_log_and_note_moved_away_together_begin_anew(instance: Instance) -> None:
    recorded_many(2)
    connections[INJECTIONS].close()
    instance.paths.injection_log.unlink()
    head.path().unlink()

    open_log()
    recorded_many(1)

    assert faults() == {}


def test_a_replaced_key_is_named(instance: Instance) -> None:
    recorded_many(2)
    (instance.paths.instance_root / "log.key").write_bytes(b"k" * 32)

    assert faults()["injection chain"] == "broken at row #1: it is not as it was written"
    assert faults()["injection head"].endswith("it was signed with another key than the one in log.key")


def test_a_missing_key_is_named_and_none_is_made(instance: Instance) -> None:
    recorded_many(2)
    key = instance.paths.instance_root / "log.key"
    key.unlink()

    assert faults()["injection chain"] == "log.key is gone, so 2 rows cannot be verified"
    assert not key.exists()


def test_a_missing_note_is_named_and_not_made_anew_by_a_turn(instance: Instance) -> None:
    recorded_many(2)
    head.path().unlink()

    recorded_many(1)
    open_log()

    assert "is missing, so a cut tail would not show" in faults()["injection head"]


@pytest.mark.parametrize("text", ["", "[]", "ÿ"])
def test_a_damaged_note_is_named_and_left_as_it_is(instance: Instance, text: str) -> None:
    recorded_many(2)
    head.path().write_text(text, "utf-8")

    recorded_many(1)

    assert faults()["injection head"].endswith("it is not readable")
    assert head.path().read_text("utf-8") == text


def test_a_forged_note_is_named(instance: Instance) -> None:
    recorded_many(3)
    noted = head.path().read_text()
    second = chain.at(2)
    third = chain.at(3)
    assert second is not None and third is not None
    forged = noted.replace(third.mac.hex(), second.mac.hex()).replace("[3, 3", "[2, 2")
    head.path().write_text(forged)
    plainly(instance, "DELETE FROM injections WHERE id = 3")

    assert faults()["injection head"].endswith("its signature is wrong")


def test_rows_of_another_program_are_counted_and_are_no_tampering(instance: Instance) -> None:
    recorded_many(2)
    append_as_another_program(instance)
    recorded_many(1)
    append_as_another_program(instance)

    assert faults() == {}
    assert findings()["injection chain"].detail == "3 rows chained, 2 of another program unchained"


@pytest.mark.parametrize("change", ["body = zeroblob(9)", "sha = zeroblob(32)"])
def test_changed_words_are_named_with_the_first_turn(instance: Instance, change: str) -> None:
    recorded_many(3)
    [(text_id,)] = fetch(INJECTIONS, "SELECT MAX(id) FROM pc_texts")

    plainly(instance, f"UPDATE pc_texts SET {change} WHERE id = {text_id}")

    assert faults()["injected texts"] == "words of row #3 are gone or changed"


def test_words_that_are_gone_are_named(instance: Instance) -> None:
    recorded_many(3)

    plainly(instance, "DELETE FROM pc_texts")

    assert faults()["injected texts"] == "words of row #1 are gone or changed"


def test_a_changed_index_is_named_and_built_anew(instance: Instance) -> None:
    recorded_many(3)
    plainly(instance, "DELETE FROM pc_injection_items WHERE kind = 2 AND ref = 2")
    assert faults() == {"injection index": "1 entries differ from the rows"}

    checkup.repair()

    assert faults() == {}
    assert queries.count_of(2).count == 1


@pytest.mark.parametrize(
    "change",
    ["UPDATE pc_injection_counts SET n = 9 WHERE ref = 2", "DELETE FROM pc_injection_counts WHERE ref = 2"],
)
def test_changed_counts_are_named_and_built_anew(instance: Instance, change: str) -> None:
    recorded_many(3)
    plainly(instance, change)
    assert faults() == {"injection index": "the counts of turns differ from the entries"}

    checkup.repair()

    assert faults() == {}
    assert queries.count_of(2).count == 1


class TestInterrupted:
    @pytest.mark.parametrize("rows_before", [0, 2])
    def test_killed_between_commit_and_note(self, instance: Instance, rows_before: int) -> None:
        recorded_many(rows_before)
        program = """
            import os, signal, django
            django.setup()
            from memory.injections import head
            head.note = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
            from tests.memory.turns import recorded_many
            recorded_many(1)
        """

        done = run(instance, program)

        assert done.returncode == -signal.SIGKILL
        assert fetch(INJECTIONS, "SELECT COUNT(*) FROM injections") == [(rows_before + 1,)]
        assert faults() == {}
        recorded_many(1)
        assert faults() == {}
        noted = head.read((instance.paths.instance_root / "log.key").read_bytes())
        assert noted is not None and noted.seq == rows_before + 2

    def test_two_processes_keep_one_chain(self, instance: Instance) -> None:
        program = (
            "import django; django.setup(); from tests.memory.turns import recorded_many; recorded_many(60)"
        )
        both = [
            subprocess.Popen([sys.executable, "-c", program], env=surroundings(instance), cwd=Path.cwd())
            for _ in range(2)
        ]

        assert [process.wait(60) for process in both] == [0, 0]
        assert findings()["injection chain"].detail.startswith("120 rows chained")
        assert faults() == {}

    def test_a_half_pruned_log_is_whole(self, instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
        recorded_many(3)

        def fail(*_: object) -> None:
            raise RuntimeError("killed")

        monkeypatch.setattr(index, "leave", fail)
        with pytest.raises(RuntimeError):
            retention.prune(NOON + timedelta(days=400))

        assert faults() == {}


class TestRetention:
    def test_a_year_is_kept_by_default(self, instance: Instance) -> None:
        recorded_many(3)

        assert retention.prune(NOON + timedelta(days=365)) == 0
        assert prune_all(NOON + timedelta(days=365, minutes=2, seconds=1)) == 2
        assert [queries.count_of(ref).count for ref in (1, 2, 3)] == [0, 0, 1]
        assert [turn.id for turn in queries.turns(TurnQuery()).items] == [3]

    def test_the_rest_verifies(self, instance: Instance) -> None:
        recorded_many(5)
        prune_all(NOON + timedelta(days=365, minutes=3, seconds=1))

        assert faults() == {}
        recorded_many(1)
        assert faults() == {}
        plainly(instance, "DELETE FROM injections WHERE id = 4")
        assert "after row #3" in faults()["injection chain"]

    def test_a_forged_anchor_is_named(self, instance: Instance) -> None:
        recorded_many(5)
        prune_all(NOON + timedelta(days=365, minutes=3, seconds=1))
        plainly(
            instance,
            "UPDATE pc_injection_meta SET value = replace(value, '[3, 3', '[4, 4') WHERE key = 'pc_anchor'",
        )

        assert "the anchor that pruning left" in faults()["injection chain"]

    def test_all_may_go_and_the_chain_goes_on(self, instance: Instance) -> None:
        recorded_many(3)
        prune_all(NOON + timedelta(days=400))
        assert faults() == {}

        assert recorded(projected(hit(1, "- new")), now=NOON + timedelta(days=400)) == 4

        assert faults() == {}
        assert findings()["injection chain"].detail.startswith("1 rows chained")

    def test_texts_that_no_turn_needs_go_too(self, instance: Instance) -> None:
        old = recorded(projected(hit(1, "- old"), hit(2, "- both")))
        kept = recorded(projected(hit(2, "- both")), now=NOON + timedelta(days=30))

        prune_all(NOON + timedelta(days=380))

        assert old not in {turn.id for turn in queries.turns(TurnQuery()).items}
        assert queries.text_of(kept) == "<injected_memory>\nReference data.\n- both\n</injected_memory>"
        connections[INJECTIONS].close()
        assert faults() == {}
        words = {checkup.texts.read(sha) for (sha,) in fetch(INJECTIONS, "SELECT sha FROM pc_texts")}
        assert b"- both" in words and b"- old" not in words

    def test_a_clock_that_went_back_costs_no_words(self, instance: Instance) -> None:
        recorded(projected(hit(1, "- one")))
        early = recorded(projected(hit(2, "- two")), now=NOON - timedelta(days=800))

        prune_all(NOON + timedelta(days=100))

        assert "- two" in queries.text_of(early)
        assert faults() == {}

    def test_broken_rows_are_kept_as_evidence(self, instance: Instance) -> None:
        recorded_many(3)
        plainly(instance, "UPDATE injections SET session_id = 'chat-2' WHERE id = 2")

        with pytest.raises(ChainBroken, match="#2"):
            retention.prune(NOON + timedelta(days=400))

        assert fetch(INJECTIONS, "SELECT COUNT(*) FROM injections") == [(3,)]

    def test_a_cut_tail_is_kept_as_evidence(self, instance: Instance) -> None:
        recorded_many(3)
        plainly(instance, "DELETE FROM injections WHERE id = 3")

        with pytest.raises(ChainBroken):
            retention.prune(NOON + timedelta(days=400))

    def test_rows_of_another_program_are_left_alone(self, instance: Instance) -> None:
        append_as_another_program(instance)
        recorded_many(2)

        assert prune_all(NOON + timedelta(days=400)) == 2
        assert [turn.session_id for turn in queries.turns(TurnQuery()).items] == ["chat-9"]

    def test_zero_days_keep_everything(self, instance: Instance, settings: Settings) -> None:
        (instance.paths.instance_root / "config.yaml").write_text("memory: {injections_keep_days: 0}")
        settings.INSTANCE = load_instance({"PROTOAGENT_HOME": str(instance.paths.instance_root)})
        recorded_many(2)

        assert retention.prune(NOON + timedelta(days=40_000)) == 0

    def test_what_a_session_read_is_known_until_its_last_turn_goes(self, instance: Instance) -> None:
        recorded(projected(hit(1, "- one")))
        recorded(projected(hit(1, "- one")), now=NOON + timedelta(days=30))
        later = NOON + timedelta(days=1_000)

        prune_all(NOON + timedelta(days=380))
        assert [given.ref for given in queries.read_before("chat-1", later)] == [1]
        prune_all(NOON + timedelta(days=400))
        assert queries.read_before("chat-1", later) == []


def prune_all(now: object) -> int:
    """Prune until nothing is left to do; say how many rows went."""
    [(before,)] = fetch(INJECTIONS, "SELECT COUNT(*) FROM injections")
    while retention.prune(now):  # type: ignore[arg-type]
        pass
    [(after,)] = fetch(INJECTIONS, "SELECT COUNT(*) FROM injections")
    return int(before - after)


def run(instance: Instance, program: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=surroundings(instance),
        cwd=Path.cwd(),
        timeout=60,
        check=False,
    )


def surroundings(instance: Instance) -> dict[str, str]:
    return environment(
        instance.paths.instance_root, {"DJANGO_SETTINGS_MODULE": "protoconsole.settings", "PYTHONPATH": "."}
    )
