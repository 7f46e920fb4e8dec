import os
import shutil
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections

from knowledge.errors import SearchBroken
from memory import session_index, session_search
from memory.folder import Folder
from memory.models import IndexedSession, IndexState
from protoconsole.databases import CONSOLE, fetch, write_transaction
from tests.cases import LEGACY
from tests.memory.sessions import folder, put, settle, write

pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often each way to touch the disk is used."""
    counts: Counter[str] = Counter()

    def counted(name: str) -> Callable[..., Any]:
        real = getattr(Folder, name)

        def call(self: Folder, *arguments: Any) -> Any:
            counts[name] += 1
            return real(self, *arguments)

        return call

    for name in ("stamp", "entries", "read", "names"):
        monkeypatch.setattr(Folder, name, counted(name))
    return counts


def ids() -> list[str]:
    return [row.session_id for row in session_index.browse(100)]


def found(query: str) -> list[str]:
    return [row.session_id for row in session_search.search(query, 10)]


def test_new_changed_and_removed_files_are_noticed() -> None:
    put("chat-1", "Rotate the certificates", minute=1)
    path = put("a2a:2", "Bake bread", minute=2)
    session_index.sync()
    assert ids() == ["a2a:2", "chat-1"]
    assert (found("certificate"), found("bread")) == (["chat-1"], ["a2a:2"])

    put("chat-1", "Water the plants", minute=3)
    path.unlink()
    settle()
    session_index.sync()
    assert ids() == ["chat-1"]
    assert (found("certificate"), found("bread"), found("watering plants")) == ([], [], ["chat-1"])
    assert fetch(CONSOLE, "SELECT count(*) FROM memory_session_words") == [(1,)]


def test_a_row_tells_what_the_file_holds() -> None:
    path = put("chat-1", "Rotate\nthe certificates", minute=7, surface="voice")
    session_index.sync()
    row = session_index.find("chat-1")
    assert row is not None
    assert (row.topic, row.surface, row.message_count) == ("Rotate the certificates", "voice", 2)
    assert (row.timestamp, row.readable, row.reason) == ("2026-04-01T09:07:00+00:00", True, "")
    assert (row.file_name, row.size, row.mtime_ns) == (
        "chat-1.json",
        path.stat().st_size,
        path.stat().st_mtime_ns,
    )


def test_without_a_time_of_its_own_a_session_is_as_old_as_its_file() -> None:
    os.utime(put("chat-1", timestamp="yesterday"), ns=(0, 86_400 * 10**9))
    session_index.sync()
    assert session_index.browse(1)[0].timestamp == "1970-01-02T00:00:00+00:00"


def test_nothing_changed_is_one_look_at_the_stamp(touched: Counter[str]) -> None:
    for number in range(20):
        put(f"chat-{number}")
    session_index.sync()
    assert touched["read"] == 20
    touched.clear()
    for _ in range(3):
        session_index.sync()
    assert touched == {"stamp": 3}


def test_only_the_file_that_changed_is_opened(touched: Counter[str]) -> None:
    for number in range(20):
        put(f"chat-{number}")
    session_index.sync()
    touched.clear()
    put("chat-7", "Something else entirely")
    session_index.sync()
    assert touched["read"] == 1
    assert found("entirely") == ["chat-7"]


def test_a_stamp_of_this_very_moment_is_not_trusted(touched: Counter[str]) -> None:
    put("chat-1")
    os.utime(folder())
    session_index.sync()
    assert IndexState.objects.get(pk=1).folder_stamp is None
    stamp = folder().stat()
    put("chat-2")
    os.utime(folder(), ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    session_index.sync()
    assert sorted(ids()) == ["chat-1", "chat-2"]
    touched.clear()
    session_index.sync()
    assert (touched["entries"], touched["read"]) == (1, 0)


def test_a_file_changed_in_place_is_found_by_the_deep_sync_alone() -> None:
    path = put("chat-1", "Bake bread")
    session_index.sync()
    path.write_text(path.read_text("utf-8").replace("bread", "rolls for all"), "utf-8")
    session_index.sync()
    assert found("rolls") == []
    assert session_index.deep_sync() == 1
    assert found("rolls") == ["chat-1"]
    assert session_index.deep_sync() == 0


def test_a_file_put_in_the_place_of_one_of_equal_size_and_time_is_noticed() -> None:
    path = put("chat-1", "Bake bread")
    session_index.sync()
    before = path.stat()
    other = folder() / "aside.tmp"
    other.write_text(path.read_text("utf-8").replace("bread", "rolls"), "utf-8")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)
    settle()
    session_index.sync()
    assert found("rolls") == ["chat-1"]


def test_files_that_hurt_are_listed_and_hurt_nothing_else() -> None:
    put("chat-1", minute=1)
    (folder() / "chat-2.json").write_text("{", "utf-8")
    (folder() / "chat-3.json").symlink_to(folder() / "chat-1.json")
    (folder() / "half.json.tmp").write_text("{", "utf-8")
    (folder() / "notes.txt").write_text("no summary", "utf-8")
    settle()
    session_index.sync()
    rows = {row.session_id: (row.readable, row.reason) for row in session_index.browse(10)}
    assert rows == {
        "chat-1": (True, ""),
        "chat-2": (False, "the file is not readable JSON"),
        "chat-3": (False, "the file is a symbolic link"),
    }
    assert [row.session_id for row in session_index.newest(10)] == ["chat-1"]


def test_a_file_that_vanishes_while_it_is_looked_at_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    put("chat-1")
    gone = put("chat-2")
    real = Folder.read

    def read(self: Folder, name: str, most: int) -> bytes:
        gone.unlink(missing_ok=True)
        return real(self, name, most)

    monkeypatch.setattr(Folder, "read", read)
    session_index.sync()
    assert "chat-2" not in ids() or found("certificates") == ["chat-1"]
    settle()
    session_index.sync()
    assert ids() == ["chat-1"]


def test_a_folder_that_is_not_there_is_an_empty_one() -> None:
    session_index.sync()
    assert ids() == []
    put("chat-1")
    session_index.sync()
    shutil.rmtree(folder())
    session_index.sync()
    assert ids() == []


def test_a_turn_waits_for_no_writer_and_has_the_old_index() -> None:
    put("chat-1")
    session_index.sync()
    put("chat-2")
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with write_transaction(CONSOLE):
            held.set()
            let_go.wait(20)
        connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(20)
    try:
        session_index.sync()
        assert ids() == ["chat-1"]
    finally:
        let_go.set()
        holder.join()
    session_index.sync()
    assert sorted(ids()) == ["chat-1", "chat-2"]


def test_a_sync_that_is_overtaken_changes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    put("chat-1")
    session_index.sync()
    put("chat-1", "Read before it was deleted")
    real = Folder.read

    def read(self: Folder, name: str, most: int) -> bytes:
        content = real(self, name, most)
        with write_transaction(CONSOLE):
            session_index.note_removed("chat-1")
        return content

    monkeypatch.setattr(Folder, "read", read)
    session_index.sync()
    assert ids() == []


def test_every_change_moves_the_version_and_nothing_else_does() -> None:
    before = session_index.version()
    put("chat-1")
    session_index.sync()
    after = session_index.version()
    assert after > before
    session_index.sync()
    session_index.deep_sync()
    assert session_index.version() == after


def test_newest_first_then_by_id_and_from_anywhere_on() -> None:
    for session_id, minute in (("chat-a", 1), ("chat-b", 3), ("chat-c", 3), ("chat-d", 2)):
        put(session_id, minute=minute)
    session_index.sync()
    assert ids() == ["chat-c", "chat-b", "chat-d", "chat-a"]
    first = session_index.browse(2)
    rest = session_index.browse(10, before=(first[-1].timestamp, first[-1].session_id))
    assert [row.session_id for row in rest] == ["chat-d", "chat-a"]


def test_times_in_any_offset_are_ordered_as_moments() -> None:
    put("chat-early", timestamp="2026-04-01T10:00:00+02:00")
    put("chat-late", timestamp="2026-04-01T09:00:00Z")
    session_index.sync()
    assert ids() == ["chat-late", "chat-early"]


def test_the_newest_are_read_from_an_index() -> None:
    plan = IndexedSession.objects.filter(readable=True, background=False)
    plan_text = plan.order_by("-timestamp", "-session_id")[:11].explain()
    assert "USING INDEX session_newest_in_digest" in plan_text
    assert "TEMP B-TREE" not in plan_text


@pytest.mark.parametrize(
    "query", ["", "   ", '"', "NEAR(", "*", "a\x00b \ud800", "AND OR NOT", "'; --", "x" * 100_000]
)
def test_no_query_is_an_error(query: str) -> None:
    put("chat-1")
    session_index.sync()
    assert found(query) == []


def test_words_inside_of_languages_without_spaces_are_found() -> None:
    put("chat-1", "明日は証明書を更新します")
    session_index.sync()
    assert found("証明書") == ["chat-1"]


def test_background_sessions_and_one_other_can_be_left_out() -> None:
    for session_id in ("chat-1", "chat-2", "background:3"):
        put(session_id, "Bake bread")
    session_index.sync()
    assert sorted(found("bread")) == ["background:3", "chat-1", "chat-2"]
    rows = session_search.search("bread", 10, without="chat-2", background=False)
    assert [row.session_id for row in rows] == ["chat-1"]


@pytest.mark.usefixtures("without_fts5")
def test_without_fts5_the_sessions_with_the_most_words_come_first() -> None:
    put("chat-1", "Bake bread", minute=2)
    put("chat-2", "Bake rye bread", minute=1)
    put("chat-3", "Water the plants")
    session_index.sync()
    assert not session_search.stemmed()
    assert found("rye bread") == ["chat-2", "chat-1"]


def test_a_database_made_without_fts5_serves_the_same_calls() -> None:
    fetch(CONSOLE, "DROP TABLE memory_session_words")
    fetch(CONSOLE, "CREATE TABLE memory_session_words (words TEXT NOT NULL)")
    put("chat-1", "Bake bread")
    session_index.sync()
    assert not session_search.stemmed()
    assert found("bread") == ["chat-1"]
    put("chat-1", "Water the plants")
    session_index.sync()
    assert found("bread") == []


def test_a_broken_index_is_not_an_empty_one() -> None:
    fetch(CONSOLE, "DROP TABLE memory_session_words")
    with pytest.raises(SearchBroken):
        session_search.search("bread", 5)


def test_the_migration_can_be_taken_back_and_made_again() -> None:
    call_command("migrate", "memory", "0001", database=CONSOLE, verbosity=0)
    call_command("migrate", "memory", database=CONSOLE, verbosity=0)
    put("chat-1", "Bake bread")
    session_index.sync()
    assert found("bread") == ["chat-1"]


def test_the_legacy_folder_is_indexed_whole() -> None:
    shutil.copytree(LEGACY / "memory", folder(), dirs_exist_ok=True)
    settle()
    session_index.sync()
    rows = {row.session_id: row for row in session_index.browse(100)}
    assert set(rows) == {path.stem.replace("%3A", ":") for path in (LEGACY / "memory").glob("*.json")}
    assert [key for key, row in rows.items() if not row.readable] == ["chat-corrupt"]
    assert rows["background:job-17"].background
    assert (rows["chat-nouser"].topic, rows["chat-nouser"].message_count) == ("", 1)
    assert rows["a2a:legacy-colon"].topic == "An old build wrote this file name with a raw colon"
    assert rows["chat-leaky"].topic == "Use the key [redacted] and password=[redacted] for the demo"
    assert rows["system:activity"].surface == "activity"
    assert (found("hunter2"), found("secret")) == ([], [])
    assert set(found("certificate rotation")) >= {"chat-0000"}


def test_the_index_follows_another_writer_at_work() -> None:
    """Files come, change and go while the index follows; afterwards it is exact."""
    done = threading.Event()

    def work() -> None:
        for number in range(300):
            write(f"chat-{number % 60}", f"Said {number}", number % 60)
            if number % 7 == 0:
                (folder() / f"chat-{(number + 30) % 60}.json").unlink(missing_ok=True)
        done.set()

    writer = threading.Thread(target=work)
    writer.start()
    while not done.is_set():
        session_index.sync()
    writer.join()
    session_index.deep_sync()
    assert set(ids()) == {path.stem for path in folder().glob("*.json")}
    assert all(row.readable for row in session_index.browse(100))


def test_a_turn_reads_the_newest_of_many_new_files_and_the_deep_look_the_rest(
    touched: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_index, "MOST_AT_ONCE", 3)
    for n in range(8):
        os.utime(put(f"chat-{n}", f"topic {n}", minute=n), ns=(10**18 + n, 10**18 + n))
    settle()

    session_index.sync()
    assert touched["read"] == 3
    assert ids() == ["chat-7", "chat-6", "chat-5"]

    session_index.deep_sync()
    assert len(ids()) == 8
    session_index.sync()
    assert touched["read"] == 8
