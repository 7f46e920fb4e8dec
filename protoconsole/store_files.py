"""What every store's file goes through before it is used: refusals in one line, the copy, the journal."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from django.db import OperationalError

from protoconsole.databases import fetch
from protoconsole.errors import StoreUnusable
from protoconsole.paths import make_private_file

_MAGIC = b"SQLite format 3\x00"


def refuse_unwritable(path: Path, variable: str) -> None:
    """Raise StoreUnusable where a file cannot be kept; `variable` names the setting that moves it."""
    folder = path.parent
    if path.exists() and not path.is_file():
        raise StoreUnusable(f"{path}: is not a file; point {variable} at the agent's SQLite file")
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise StoreUnusable(f"{path}: cannot be read and written by this user; change its owner or mode")
    if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
        raise StoreUnusable(
            f"{folder}: is not writable, and SQLite keeps its log there; change its owner or mode"
        )


def refuse_foreign_file(path: Path, variable: str) -> None:
    """Raise StoreUnusable for a file that is no SQLite database."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise StoreUnusable(
                f"{path}: is not a SQLite database; move it away or point {variable} elsewhere"
            )


def open_untouched(path: Path) -> sqlite3.Connection:
    """Open a database for reading and leave nothing beside it."""
    journals = (path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-journal"))
    # Where nobody is at work SQLite would make an empty log to read, and could not remove it again.
    alone = "" if any(journal.exists() for journal in journals) else "&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{alone}", uri=True, timeout=10)


def has_content(path: Path) -> bool:
    """Say whether somebody has written a database here before."""
    return path.exists() and path.stat().st_size > 0


def copy_aside(path: Path, version: int) -> Path:
    """Copy a store online before its first change.

    A copy that a failed start left is made anew: that start changed nothing, and another program may have.
    """
    copy = path.with_name(f"{path.name}.before-schema-{version}")
    unfinished = copy.with_name(f"{copy.name}.part")
    unfinished.unlink(missing_ok=True)
    make_private_file(unfinished)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(unfinished)) as target:
        source.backup(target)
    unfinished.rename(copy)
    return copy


def use_wal(alias: str) -> bool:
    """Switch to write-ahead logging, which lasts; a program that is reading just now may prevent it."""
    try:
        return bool(fetch(alias, "PRAGMA journal_mode = WAL")[0][0] == "wal")
    except OperationalError as error:
        if "locked" not in str(error):
            raise
        return False


def run_script(alias: str, script: str) -> None:
    """Run statements parted by semicolons inside the caller's transaction."""
    # Not executescript, which would commit the transaction that this belongs to.
    for statement in script.split(";"):
        if statement.strip():
            fetch(alias, statement)
