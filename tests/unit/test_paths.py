"""Where the stores lie."""

import os
import stat
from pathlib import Path

import pytest

from protoconsole import paths as module
from protoconsole.config import Commons, Config, ConfigError, Knowledge, Memory, Skills
from protoconsole.paths import (
    Paths,
    box_root,
    instance_root,
    make_private_dir,
    make_private_file,
    private_opener,
    resolve_paths,
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(module, "SANDBOX", tmp_path / "sandbox")
    return tmp_path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_box_is_the_named_folder_else_the_sandbox_else_the_home(home: Path) -> None:
    assert box_root({}) == home / ".protoagent"
    (home / "sandbox").mkdir()
    assert box_root({}) == home / "sandbox"
    assert box_root({"PROTOAGENT_BOX_ROOT": "~/box"}) == home / "box"


def test_the_instance_is_the_named_folder_else_one_of_the_box(home: Path) -> None:
    box = {"PROTOAGENT_BOX_ROOT": str(home)}
    assert instance_root(box) == home / "default"
    assert instance_root({**box, "PROTOAGENT_INSTANCE": "roxy"}) == home / "roxy"
    named = {**box, "PROTOAGENT_INSTANCE": "roxy", "PROTOAGENT_HOME": "/elsewhere"}
    assert instance_root(named) == Path("/elsewhere")


def test_empty_variables_count_as_unset(home: Path) -> None:
    empty = dict.fromkeys(
        (
            "PROTOAGENT_BOX_ROOT",
            "PROTOAGENT_HOME",
            "PROTOAGENT_INSTANCE",
            "KNOWLEDGE_DB_PATH",
            "MEMORY_PATH",
            "PROTOAGENT_INJECTION_LOG",
            "PROTOCONSOLE_DB",
        ),
        " ",
    )
    assert resolve_paths(empty, Config()) == resolve_paths({}, Config())


@pytest.mark.parametrize("name", ["a/b", "/a", "..", ".", "a\\b", "a\nb", "../a"])
def test_an_instance_name_that_is_a_path_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=r"^PROTOAGENT_INSTANCE: .* must be one folder name$"):
        instance_root({"PROTOAGENT_INSTANCE": name})


def test_the_defaults_are_those_of_the_contract(home: Path) -> None:
    root = home / "box" / "default"
    assert resolve_paths({"PROTOAGENT_BOX_ROOT": str(home / "box")}, Config()) == Paths(
        box_root=home / "box",
        instance_root=root,
        knowledge_db=root / "knowledge" / "agent.db",
        memory_dir=root / "memory",
        injection_log=root / "memory-injections.db",
        skills_db=root / "skills.db",
        skills_dir=root / "skills",
        console_db=root / "console.db",
        commons_db=home / "box" / "commons" / "knowledge.db",
        secret_key_file=root / "secret.key",
    )


CONFIGURED = Config(
    knowledge=Knowledge(db_path="/k/file.db"),
    memory=Memory(path="~/sessions"),
    skills=Skills(db_path="my-skills.db", dir="a/b"),
    commons=Commons(path="/shared"),
)


def test_the_configuration_beats_the_default(home: Path) -> None:
    paths = resolve_paths({"PROTOAGENT_HOME": "/srv/agent"}, CONFIGURED)
    assert paths.knowledge_db == Path("/k/file.db")
    assert paths.memory_dir == home / "sessions"
    assert paths.skills_db == Path("/srv/agent/my-skills.db")
    assert paths.skills_dir == Path("/srv/agent/a/b")
    assert paths.commons_db == Path("/shared/knowledge.db")


def test_the_environment_beats_the_configuration(home: Path) -> None:
    environment = {
        "KNOWLEDGE_DB_PATH": "/env/k.db",
        "MEMORY_PATH": "~/m",
        "PROTOAGENT_INJECTION_LOG": "/env/i.db",
        "PROTOCONSOLE_DB": "/env/c.db",
    }
    paths = resolve_paths(environment, CONFIGURED)
    assert paths.knowledge_db == Path("/env/k.db")
    assert paths.memory_dir == home / "m"
    assert paths.injection_log == Path("/env/i.db")
    assert paths.console_db == Path("/env/c.db")


def test_a_path_of_the_environment_is_taken_from_where_the_command_runs(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    assert resolve_paths({"KNOWLEDGE_DB_PATH": "k.db"}, Config()).knowledge_db == home / "k.db"
    assert instance_root({"PROTOAGENT_HOME": "here"}) == home / "here"


def test_a_configured_sandbox_path_counts_only_where_the_file_exists(home: Path) -> None:
    printed = home / "sandbox" / "knowledge" / "agent.db"
    config = Config(knowledge=Knowledge(db_path=str(printed)))
    environment = {"PROTOAGENT_HOME": "/srv/agent"}
    assert resolve_paths(environment, config).knowledge_db == Path("/srv/agent/knowledge/agent.db")
    printed.parent.mkdir(parents=True)
    assert resolve_paths(environment, config).knowledge_db == Path("/srv/agent/knowledge/agent.db")
    printed.touch()
    assert resolve_paths(environment, config).knowledge_db == printed


def test_a_sandbox_path_of_the_environment_is_taken_as_it_is(home: Path) -> None:
    printed = home / "sandbox" / "k.db"
    assert resolve_paths({"KNOWLEDGE_DB_PATH": str(printed)}, Config()).knowledge_db == printed


def test_the_real_sandbox_is_the_one_of_the_contract() -> None:
    assert Path("/sandbox") == module.SANDBOX


def test_folders_and_files_are_made_for_this_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private_dir(tmp_path / "a" / "b")
        make_private_file(tmp_path / "a" / "empty")
        with open(tmp_path / "a" / "text", "w", opener=private_opener) as file:
            file.write("x")
    finally:
        os.umask(before)
    assert [mode(tmp_path / name) for name in ("a", "a/b")] == [0o700, 0o700]
    assert [mode(tmp_path / name) for name in ("a/empty", "a/text")] == [0o600, 0o600]


def test_what_exists_is_left_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    file = folder / "full"
    file.write_text("text", "utf-8")
    file.chmod(0o644)
    make_private_dir(folder)
    make_private_file(file)
    assert (mode(folder), mode(file), file.read_text("utf-8")) == (0o755, 0o644, "text")


@pytest.mark.parametrize(
    "variable",
    ["PROTOAGENT_BOX_ROOT", "PROTOAGENT_HOME", "KNOWLEDGE_DB_PATH", "MEMORY_PATH", "PROTOCONSOLE_DB"],
)
def test_the_home_of_an_unknown_user_is_a_fault_of_the_variable(home: Path, variable: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{variable}: '~nosuch/x' is not allowed"):
        resolve_paths({variable: "~nosuch/x"}, Config())


def test_the_home_of_an_unknown_user_is_a_fault_of_the_key(home: Path) -> None:
    with pytest.raises(ConfigError, match=r"^skills\.dir: '~nosuch' is not allowed"):
        resolve_paths({}, Config(skills=Skills(dir="~nosuch")))
