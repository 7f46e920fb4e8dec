"""Playbooks that an agent can load by name: `SKILL.md` folders, and the index of an agent's own program.

A folder is the truth where both know a name. What only users may start never reaches an agent.
"""

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

import yaml

from knowledge.text import clean_query
from protoconsole.errors import StoreUnusable
from protoconsole.store_files import open_untouched

MANIFEST = "SKILL.md"
MAX_MANIFEST_BYTES = 1_000_000
KNOWN_VERSION = 5  # of `_skills_meta`
_LOOK_AGAIN_S = 2.0

_VERSIONS = "SELECT version FROM _skills_meta WHERE typeof(version) = 'integer'"
_INDEXED = "SELECT name, description, slash, user_only FROM skills_fts"
_TRUE = frozenset({"1", "true", "yes"})


@dataclass(frozen=True, slots=True)
class Playbook:
    """What an index of playbooks tells: `slash` is '' where it has no command."""

    name: str
    description: str
    slash: str = ""
    user_only: bool = False


@dataclass(frozen=True, slots=True)
class Playbooks:
    """What an agent may load, by name, and in one line each what could not be read."""

    listed: Sequence[Playbook]
    faults: Sequence[str]


def for_agents(database: Path, folder: Path) -> Playbooks:
    """List what an agent may load; files are looked at again after two seconds."""
    return _for_agents(database, folder, int(time.monotonic() / _LOOK_AGAIN_S))


def refuse_newer(database: Path) -> None:
    """Raise StoreUnusable where a newer program than we know made the index; touch nothing.

    One that cannot be read stops nobody: it is told where playbooks are asked for.
    """
    if not database.is_file():
        return
    try:
        with closing(open_untouched(database)) as connection:
            version = max((row[0] for row in connection.execute(_VERSIONS)), default=0)
    except sqlite3.DatabaseError:
        return
    if version > KNOWN_VERSION:
        raise StoreUnusable(
            f"{database}: was written by a newer program (playbooks index {version}, this one knows"
            f" {KNOWN_VERSION}); upgrade this one"
        )


@lru_cache(maxsize=4)
def _for_agents(database: Path, folder: Path, moment: int) -> Playbooks:
    found: dict[str, Playbook] = {}
    faults: list[str] = []
    for entry in (*_of_index(database, _signature(database)), *_of_folder(folder)):
        if isinstance(entry, str):
            faults.append(entry)
        else:
            found[entry.name] = entry
    return Playbooks([found[name] for name in sorted(found) if not found[name].user_only], faults)


def _signature(database: Path) -> tuple[int, ...]:
    """Tell whether an index may have changed: the times of its file and of its log."""
    files = (database, database.with_name(f"{database.name}-wal"))
    return tuple(stat.st_mtime_ns for stat in map(_stat, files) if stat)


def _stat(path: Path) -> os.stat_result | None:
    """Look at a file that may be gone: the other program removes its log when it closes."""
    try:
        return path.stat(follow_symlinks=False)
    except OSError:
        return None


Entry = Playbook | str  # a playbook, or a sentence on why there is none


@lru_cache(maxsize=4)
def _of_index(database: Path, signature: tuple[int, ...]) -> list[Entry]:
    if not signature:
        return []
    try:
        with closing(
            sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, timeout=1)
        ) as connection:
            rows = connection.execute(_INDEXED).fetchall()
    except sqlite3.DatabaseError as error:
        return [f"the index of playbooks {database} cannot be read ({error})"]
    return [
        Playbook(_text(name), _text(description), _text(slash), _text(user_only).lower() in _TRUE)
        for name, description, slash, user_only in rows
        if name
    ]


def _of_folder(folder: Path) -> Iterator[Entry]:
    for path in sorted(folder.glob(f"*/{MANIFEST}")) if folder.is_dir() else ():
        stat = None if path.parent.is_symlink() else _stat(path)
        if stat and S_ISREG(stat.st_mode):
            yield _of_manifest(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4096)
def _of_manifest(path: Path, changed: int, size: int) -> Entry:
    if size > MAX_MANIFEST_BYTES:
        return f"{path} is larger than {MAX_MANIFEST_BYTES:,} bytes"
    try:
        fields = yaml.safe_load(_front_matter(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        # PyYAML raises ValueError for a date that is none, RecursionError for brackets without end.
        return f"{path} cannot be read ({type(error).__name__})"
    name = _text(fields.get("name")).strip() if isinstance(fields, dict) else ""
    if not name:
        return f"{path} names no playbook in its front matter"
    description, slash, user_only = (_text(fields.get(key)) for key in ("description", "slash", "user_only"))
    return Playbook(name, description, slash, user_only.lower() in _TRUE)


def _text(value: object) -> str:
    """Take a text that can be delivered and recorded, or a truth value or number in words; else ''."""
    return clean_query(str(value)) if isinstance(value, str | bool | int | float) else ""


def _front_matter(text: str) -> str:
    """Cut the YAML between the first two lines of three dashes; '' where there is none."""
    parts = text.split("\n---", 1)
    return parts[0].removeprefix("---") if text.startswith("---") and len(parts) == 2 else ""
