"""Where everything lies: environment beats configuration beats default. No Django."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from protoconsole.config import Config, ConfigError

SANDBOX = Path("/sandbox")


@dataclass(frozen=True, slots=True)
class Paths:
    """The files and folders of one instance; all absolute, none of them made yet."""

    box_root: Path
    instance_root: Path
    knowledge_db: Path
    memory_dir: Path
    injection_log: Path
    skills_db: Path
    skills_dir: Path
    console_db: Path
    commons_db: Path
    secret_key_file: Path


def box_root(env: Mapping[str, str]) -> Path:
    """Find the base that all instances of a machine share."""
    named = _named(env, "PROTOAGENT_BOX_ROOT")
    if named:
        return _absolute("PROTOAGENT_BOX_ROOT", named)
    return SANDBOX if SANDBOX.is_dir() else _expanded("HOME", "~/.protoagent")


def instance_root(env: Mapping[str, str]) -> Path:
    """Find the folder that holds one agent's stores."""
    home = _named(env, "PROTOAGENT_HOME")
    if home:
        return _absolute("PROTOAGENT_HOME", home)
    return box_root(env) / _instance_name(env)


def resolve_paths(env: Mapping[str, str], config: Config) -> Paths:
    """Settle every path of the instance."""
    box, root = box_root(env), instance_root(env)

    def place(variable: str, configured: str, default: Path, key: str = "") -> Path:
        named = _named(env, variable) if variable else ""
        return _absolute(variable, named) if named else _configured(key, configured, root, default)

    return Paths(
        box_root=box,
        instance_root=root,
        knowledge_db=place(
            "KNOWLEDGE_DB_PATH",
            config.knowledge.db_path,
            root / "knowledge" / "agent.db",
            "knowledge.db_path",
        ),
        memory_dir=place("MEMORY_PATH", config.memory.path, root / "memory", "memory.path"),
        injection_log=place("PROTOAGENT_INJECTION_LOG", "", root / "memory-injections.db"),
        skills_db=place("", config.skills.db_path, root / "skills.db", "skills.db_path"),
        skills_dir=place("", config.skills.dir, root / "skills", "skills.dir"),
        console_db=place("PROTOCONSOLE_DB", "", root / "console.db"),
        commons_db=place("", config.commons.path, box / "commons", "commons.path") / "knowledge.db",
        secret_key_file=root / "secret.key",
    )


def make_private_dir(path: Path) -> None:
    """Make a folder and its missing parents, each for this user alone; leave what exists as it is."""
    if path.is_dir():
        return
    if path.parent != path:
        make_private_dir(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


def private_opener(path: str, flags: int) -> int:
    """Open a file so that, when it is made, only this user can read it; for `open(opener=...)`."""
    return os.open(path, flags, 0o600)


def make_private_file(path: Path) -> None:
    """Make an empty file for this user alone; leave what exists as it is."""
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def _configured(key: str, configured: str, root: Path, default: Path) -> Path:
    if not configured:
        return default
    path = root / _expanded(key, configured)
    unreachable = path.is_relative_to(SANDBOX) and not path.exists()
    return default if unreachable else path


def _instance_name(env: Mapping[str, str]) -> str:
    name = _named(env, "PROTOAGENT_INSTANCE") or "default"
    if name in (".", "..") or "/" in name or os.sep in name or "\\" in name or not name.isprintable():
        raise ConfigError(f"PROTOAGENT_INSTANCE: {name!a} is not allowed, must be one folder name")
    return name


def _named(env: Mapping[str, str], variable: str) -> str:
    return env.get(variable, "").strip()


def _absolute(variable: str, path: str) -> Path:
    return Path.cwd() / _expanded(variable, path)


def _expanded(setting: str, path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ConfigError(
            f"{setting}: {path!a} is not allowed, must begin with the home folder of a user of this machine"
        ) from error
