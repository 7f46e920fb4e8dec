import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from knowledge.errors import Conflict, Invalid, NotFound
from knowledge.types import MARK_CLOSE, MARK_OPEN
from memory import deleting, digest, session_index
from memory.folder import Folder
from memory.models import DeletedSummary
from memory.threads import post_turns
from memory.types import Absence, SessionCandidate, Summary, Unreadable
from protoconsole.databases import CONSOLE, fetch
from protoconsole.instance import Instance
from tests.actors import AGENT, OPERATOR
from tests.cases import LEGACY
from tests.memory.sessions import assistant, folder, put, settle, user

pytestmark = pytest.mark.usefixtures("store")

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The time is the last one in the list."""
    moments = [NOON]
    monkeypatch.setattr(timezone, "now", lambda: moments[-1])
    return moments


def named(
    policy: str = "newest", active: str | None = None, query: str = "", max_sessions: int = 10
) -> list[str]:
    sessions = digest.candidates(policy, active, query, max_sessions=max_sessions)
    return [session.session_id for session in sessions]


def put_numbered(count: int) -> None:
    for number in range(count):
        put(f"chat-{number:02}", minute=number)


def test_a_session_is_told_by_its_file() -> None:
    put("palette-1", "Plan  the\ntrip", minute=5)
    assert digest.candidates("newest", None, "", max_sessions=10) == [
        SessionCandidate("palette-1", "2026-04-01T09:05:00+00:00", "palette", "Plan the trip", 2)
    ]


def test_the_newest_come_first_and_no_more_than_the_ceiling() -> None:
    put_numbered(5)
    assert named(max_sessions=3) == ["chat-04", "chat-03", "chat-02"]
    assert named(max_sessions=0) == []
    assert named(max_sessions=-1) == []


@pytest.mark.parametrize("active", ["chat-04", "chat-03", "chat-00", "chat-none", None])
def test_the_active_session_is_left_out_before_the_cut(active: str | None) -> None:
    put_numbered(5)
    everything = ["chat-04", "chat-03", "chat-02", "chat-01", "chat-00"]
    assert named(active=active, max_sessions=3) == [name for name in everything if name != active][:3]


@pytest.mark.parametrize("policy", ["newest", "relevant"])
def test_background_and_unreadable_sessions_are_never_named(policy: str) -> None:
    put("background:1", minute=9)
    put("a2a:background:2", minute=9)
    put("chat-1")
    (folder() / "chat-2.json").write_text("{", "utf-8")
    settle()
    assert named(policy, query="certificates") == ["chat-1"]


def test_relevant_names_what_the_words_find_best_first() -> None:
    put("chat-1", "Bake bread", minute=1)
    put("chat-2", "Bake rye bread with rye flour", minute=2)
    put("chat-3", "Water the plants", minute=3)
    assert named("relevant", query="How did we bake rye bread?") == ["chat-2", "chat-1"]
    assert named("relevant", "chat-2", "rye bread") == ["chat-1"]
    assert named("relevant", query="bread", max_sessions=1) == ["chat-1"]


@pytest.mark.parametrize("query", ["", "zebra", "\x00", "?!"])
def test_relevant_falls_back_to_newest(query: str) -> None:
    put_numbered(3)
    assert named("relevant", "chat-02", query) == ["chat-01", "chat-00"]


@pytest.mark.usefixtures("without_fts5")
def test_relevant_without_fts5_is_newest() -> None:
    put_numbered(2)
    put("chat-bread", "Bake bread", minute=0)
    assert named("relevant", query="bread") == ["chat-01", "chat-bread", "chat-00"]


def test_relevant_with_a_broken_index_is_newest() -> None:
    put_numbered(2)
    named()
    fetch(CONSOLE, "UPDATE memory_session_words_config SET v = 99 WHERE k = 'version'")
    assert named("relevant", query="certificates") == ["chat-01", "chat-00"]


def test_off_names_none() -> None:
    put_numbered(2)
    assert named("off", query="certificates") == []
    with pytest.raises(ValueError, match="sometimes"):
        named("sometimes")


def test_within_a_minute_nobody_looks_at_the_folder(
    clock: list[datetime], monkeypatch: pytest.MonkeyPatch
) -> None:
    put_numbered(2)
    named()

    def touched(*_: object) -> None:
        raise AssertionError("the disk was touched")

    for name in ("stamp", "entries", "read", "names"):
        monkeypatch.setattr(Folder, name, touched)
    clock.append(NOON + timedelta(seconds=59))
    assert named() == ["chat-01", "chat-00"]
    assert named(active="chat-01") == ["chat-00"]


def test_others_changes_show_after_a_minute(clock: list[datetime]) -> None:
    put_numbered(1)
    named()
    put("chat-01", minute=1)
    clock.append(NOON + timedelta(seconds=59))
    assert named() == ["chat-00"]
    clock.append(NOON + timedelta(seconds=60))
    assert named() == ["chat-01", "chat-00"]


def test_a_clock_set_back_keeps_nothing_for_ever(clock: list[datetime]) -> None:
    put_numbered(1)
    named()
    put("chat-01", minute=1)
    clock.append(NOON - timedelta(hours=1))
    assert named() == ["chat-01", "chat-00"]


def test_our_own_writes_and_deletes_show_at_once(clock: list[datetime]) -> None:
    put_numbered(2)
    named()
    post_turns("chat-new", [user("Hello"), assistant("Hi")], by=AGENT)
    assert named() == ["chat-new", "chat-01", "chat-00"]
    deleting.delete("chat-01", OPERATOR)
    assert named() == ["chat-new", "chat-00"]
    deleting.restore("chat-01")
    assert named() == ["chat-new", "chat-01", "chat-00"]


def test_our_own_writes_do_not_put_off_the_look_at_others(clock: list[datetime]) -> None:
    put_numbered(1)
    named()
    put("chat-01", minute=1)
    clock.append(NOON + timedelta(seconds=40))
    post_turns("chat-new", [user("Hello"), assistant("Hi")], by=AGENT)
    assert named() == ["chat-new", "chat-00"]
    clock.append(NOON + timedelta(seconds=60))
    assert named() == ["chat-new", "chat-01", "chat-00"]


ELSEWHERE = """
import django; django.setup()
from memory.deleting import delete
from protoconsole.actors import MAINTENANCE
delete("chat-01", MAINTENANCE)
"""


def test_a_delete_in_another_process_shows_at_once(instance: Instance, clock: list[datetime]) -> None:
    put_numbered(2)
    assert named() == ["chat-01", "chat-00"]
    environment = {
        **os.environ,
        "PROTOAGENT_HOME": str(instance.paths.instance_root),
        "DJANGO_SETTINGS_MODULE": "protoconsole.settings",
    }
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", ELSEWHERE], env=environment, cwd=root, check=True)
    assert named() == ["chat-00"]


def why(*session_ids: str, active: str | None = None) -> list[Absence | None]:
    session_index.sync()
    return [digest.why_not_in_digest(session_id, active) for session_id in session_ids]


def configure(settings: Any, instance: Instance, policy: str, max_sessions: int = 10) -> None:
    config = instance.config
    changed = replace(
        config,
        context=replace(config.context, prior_sessions=policy),
        memory=replace(config.memory, max_sessions=max_sessions),
    )
    settings.INSTANCE = replace(instance, config=changed)


def test_a_page_can_say_why_a_session_is_not_named(settings: Any, instance: Instance) -> None:
    configure(settings, instance, "newest", max_sessions=2)
    put_numbered(4)
    put("background:1")
    (folder() / "chat-bad.json").write_text("{", "utf-8")
    settle()
    assert why("chat-03", "chat-02", "chat-01", "background:1", "chat-bad", "chat-none") == [
        None, None, Absence.BEYOND, Absence.BACKGROUND, Absence.UNREADABLE, None,
    ]  # fmt: skip
    assert why("chat-03", "chat-01", active="chat-03") == [Absence.ACTIVE, None]


def test_the_policy_can_be_why(settings: Any, instance: Instance) -> None:
    put_numbered(1)
    configure(settings, instance, "off")
    assert why("chat-00") == [Absence.OFF]
    configure(settings, instance, "relevant")
    assert why("chat-00") == [Absence.WHEN_RELEVANT]


def test_the_room_of_a_digest_can_be_why(settings: Any, instance: Instance) -> None:
    put_numbered(3)
    # 48 tokens are 192 characters: the frame takes 97, a line 77, and so two of them have no room.
    limits = replace(instance.config.memory, max_tokens=48)
    settings.INSTANCE = replace(instance, config=replace(instance.config, memory=limits))
    assert why("chat-02", "chat-01", "chat-00") == [None, Absence.NO_ROOM, Absence.NO_ROOM]


def test_memory_that_is_off_names_no_session(settings: Any, instance: Instance) -> None:
    put_numbered(1)
    config = replace(instance.config, middleware=replace(instance.config.middleware, knowledge=False))
    settings.INSTANCE = replace(instance, config=config)
    assert why("chat-00") == [Absence.OFF]


def test_a_search_shows_the_words_around_the_match() -> None:
    put("chat-1", "Bake a loaf of rye bread", minute=1)
    put("chat-2", "Water the plants", minute=2)
    hits = digest.search("breads", 5)
    assert [hit.session.session_id for hit in hits] == ["chat-1"]
    assert f"rye {MARK_OPEN}bread{MARK_CLOSE}" in hits[0].preview


def test_a_search_finds_what_was_written_a_moment_ago() -> None:
    put("chat-1", "Bake bread")
    digest.search("bread", 5)
    put("chat-2", "Bake more bread")
    assert {hit.session.session_id for hit in digest.search("bread", 5)} == {"chat-1", "chat-2"}
    assert len(digest.search("bread", 1)) == 1


def test_a_session_is_read_by_its_id() -> None:
    put("chat-1")
    assert isinstance(digest.read("chat-1"), Summary)
    assert digest.read("chat-2") is None
    with pytest.raises(Invalid):
        digest.read("../chat-1")


def kept() -> list[str]:
    root = folder().parent / ".deleted"
    return sorted(path.name for path in root.iterdir()) if root.exists() else []


def test_a_delete_takes_file_row_and_line_together() -> None:
    path = put("chat-1", "Bake bread")
    assert named() == ["chat-1"]
    deleting.delete("chat-1", OPERATOR)
    assert not path.exists()
    assert session_index.find("chat-1") is None
    assert (named(), digest.search("bread", 5), digest.read("chat-1")) == ([], [], None)
    assert kept() == ["chat-1.json"]
    assert (folder().parent / ".deleted").stat().st_mode & 0o777 == 0o700
    assert DeletedSummary.objects.get().by == "olive"


def test_a_deleted_session_comes_back_as_it_was() -> None:
    path = put("chat-1", "Bake bread")
    before = path.read_bytes()
    deleting.delete("chat-1", OPERATOR)
    deleting.restore("chat-1")
    assert path.read_bytes() == before
    assert named() == ["chat-1"]
    assert [hit.session.session_id for hit in digest.search("bread", 5)] == ["chat-1"]
    assert (kept(), DeletedSummary.objects.count()) == ([], 0)


def test_both_twins_of_an_older_build_go() -> None:
    put("a2a:7", "older").rename(folder() / "a2a:7.json")
    put("a2a:7", "newer")
    named()
    deleting.delete("a2a:7", OPERATOR)
    assert list(folder().iterdir()) == []
    deleting.restore("a2a:7")
    read = digest.read("a2a:7")
    assert isinstance(read, Summary)
    assert read.messages[0].content == "newer"


def test_an_unreadable_file_can_be_deleted_and_comes_back_unreadable() -> None:
    path = folder() / "chat-1.json"
    path.write_text("{", "utf-8")
    deleting.delete("chat-1", OPERATOR)
    assert not path.exists()
    deleting.restore("chat-1")
    assert isinstance(digest.read("chat-1"), Unreadable)


def test_a_link_is_deleted_and_what_it_points_at_stays() -> None:
    outside = folder().parent / "outside.json"
    outside.write_text("{}", "utf-8")
    (folder() / "chat-1.json").symlink_to(outside)
    deleting.delete("chat-1", OPERATOR)
    assert list(folder().iterdir()) == []
    assert outside.exists()


def test_what_is_not_there_is_not_deleted() -> None:
    (folder() / "chat-dir.json").mkdir()
    for session_id in ("chat-1", "chat-dir"):
        with pytest.raises(NotFound):
            deleting.delete(session_id, OPERATOR)
    with pytest.raises(Invalid):
        deleting.delete("../chat", OPERATOR)
    with pytest.raises(NotFound):
        deleting.restore("chat-1")


def test_a_delete_that_the_disk_refuses_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    put("chat-1")
    named()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "move", refuse)
    with pytest.raises(PermissionError):
        deleting.delete("chat-1", OPERATOR)
    assert named() == ["chat-1"]
    with pytest.raises(NotFound):
        deleting.restore("chat-1")


def test_a_newer_summary_is_not_overwritten_by_a_restore() -> None:
    put("chat-1", "old")
    deleting.delete("chat-1", OPERATOR)
    put("chat-1", "new")
    with pytest.raises(Conflict):
        deleting.restore("chat-1")
    read = digest.read("chat-1")
    assert isinstance(read, Summary)
    assert read.messages[0].content == "new"


def test_after_a_day_it_is_gone_for_good(clock: list[datetime]) -> None:
    put("chat-1")
    deleting.delete("chat-1", OPERATOR)
    clock.append(NOON + timedelta(hours=24, seconds=-1))
    assert deleting.sweep_deleted() == 0
    assert kept() == ["chat-1.json"]
    clock.append(NOON + timedelta(hours=24))
    assert deleting.sweep_deleted() == 1
    assert (kept(), deleting.sweep_deleted()) == ([], 0)
    with pytest.raises(NotFound):
        deleting.restore("chat-1")


def test_the_digest_of_the_legacy_folder() -> None:
    shutil.copytree(LEGACY / "memory", folder(), dirs_exist_ok=True)
    settle()
    files = [
        json.loads(path.read_text("utf-8")) for path in folder().glob("*.json") if "corrupt" not in path.name
    ]
    by_age = sorted(files, key=lambda file: (file["timestamp"], file["session_id"]), reverse=True)
    expected = [file["session_id"] for file in by_age if file["session_id"] != "background:job-17"]
    assert named(max_sessions=100) == expected
    assert named(active=expected[0]) == expected[1:11]
