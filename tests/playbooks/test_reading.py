import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from knowledge import playbooks
from knowledge.playbooks import Playbook
from tests.cases import LEGACY


@pytest.fixture(autouse=True)
def nothing_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playbooks, "_for_agents", playbooks._for_agents.__wrapped__)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return shutil.copy(LEGACY / "skills.db", tmp_path / "skills.db")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "skills").mkdir()
    return tmp_path / "skills"


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(exist_ok=True)
    path = folder / name / "SKILL.md"
    path.write_text(text)
    return path


def test_the_index_of_the_other_program_is_read(database: Path, folder: Path) -> None:
    found = playbooks.for_agents(database, folder)

    assert [playbook.name for playbook in found.listed] == ["release", "standup", "web-research"]
    assert found.listed[0].description == "Use this to cut a release: tag, notes, announce."
    assert found.faults == []


def test_a_folder_is_the_truth_where_both_know_a_name(database: Path, folder: Path) -> None:
    write(folder, "release", "---\nname: release\ndescription: Ours\nslash: /release\n---\nDo it.\n")

    found = playbooks.for_agents(database, folder)

    assert Playbook("release", "Ours", "/release") in found.listed
    assert len(found.listed) == 3


def test_what_only_users_may_start_is_left_out(database: Path, folder: Path) -> None:
    write(folder, "secret", "---\nname: secret\nuser_only: true\n---\n")
    write(folder, "standup", "---\nname: standup\nuser_only: 'yes'\n---\n")

    assert [playbook.name for playbook in playbooks.for_agents(database, folder).listed] == [
        "release",
        "web-research",
    ]


def test_a_changed_file_is_read_again(tmp_path: Path, folder: Path) -> None:
    write(folder, "a", "---\nname: a\ndescription: one\n---\n")
    assert playbooks.for_agents(tmp_path / "none.db", folder).listed == [Playbook("a", "one")]

    write(folder, "a", "---\nname: a\ndescription: another\n---\n")

    assert playbooks.for_agents(tmp_path / "none.db", folder).listed == [Playbook("a", "another")]


def test_a_changed_index_is_read_again(database: Path, folder: Path) -> None:
    playbooks.for_agents(database, folder)
    with closing(sqlite3.connect(database)) as other:
        other.execute("DELETE FROM skills_fts WHERE name = 'standup'")
        other.commit()

    assert len(playbooks.for_agents(database, folder).listed) == 2


@pytest.mark.parametrize(
    "text",
    [
        "no front matter",
        "---\nname: [\n---\n",
        "---\ndescription: nameless\n---\n",
        "---\nname: ' '\n---\n",
        "---\n- a\n---\n",
        "---\nname: x\nwhen: 2026-13-45\n---\n",
        "---\nname: " + "[" * 5000 + "\n---\n",
        "---\nname: [x]\n---\n",
    ],
)
def test_a_file_that_says_nothing_is_told_and_hurts_nothing_else(
    tmp_path: Path, folder: Path, text: str
) -> None:
    write(folder, "bad", text)
    write(folder, "good", "---\nname: good\n---\n")

    found = playbooks.for_agents(tmp_path / "none.db", folder)

    assert [playbook.name for playbook in found.listed] == ["good"]
    assert "bad" in found.faults[0]
    assert len(found.faults) == 1


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path, folder: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write(elsewhere, "outside", "---\nname: outside\n---\n")
    (folder / "outside").symlink_to(elsewhere / "outside")

    assert playbooks.for_agents(tmp_path / "none.db", folder).listed == []


def test_a_broken_index_is_told(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "skills.db").write_text("nonsense" * 1000)

    found = playbooks.for_agents(tmp_path / "skills.db", folder)

    assert found.listed == []
    assert "cannot be read" in found.faults[0]


def test_names_can_always_be_delivered_and_recorded(tmp_path: Path, folder: Path) -> None:
    write(folder, "odd", '---\nname: "a\\ud800b"\ndescription: {nested: [1]}\n---\n')

    assert playbooks.for_agents(tmp_path / "none.db", folder).listed == [Playbook("ab", "")]


def test_files_that_vanish_meanwhile_are_not_there(
    database: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "gone", "---\nname: gone\n---\n")
    monkeypatch.setattr(playbooks, "_stat", lambda path: None)

    assert playbooks.for_agents(database, folder).listed == []
