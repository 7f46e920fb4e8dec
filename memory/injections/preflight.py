"""Looks at an injection log before anything opens it for writing, and refuses in one line."""

import sqlite3
from contextlib import closing
from pathlib import Path

from memory.injections.schema import REQUIRED_COLUMNS, SCHEMA_MARKER, SCHEMA_VERSION
from protoconsole.errors import StoreUnusable
from protoconsole.store_files import has_content, open_untouched, refuse_foreign_file, refuse_unwritable

PATH_VARIABLE = "PROTOAGENT_INJECTION_LOG"


def refuse_unusable(path: Path) -> None:
    """Raise StoreUnusable where the file cannot serve as an injection log; touch nothing."""
    refuse_unwritable(path, PATH_VARIABLE)
    if has_content(path):
        refuse_foreign_file(path, PATH_VARIABLE)
        _refuse_schema(path)


def _refuse_schema(path: Path) -> None:
    try:
        with closing(open_untouched(path)) as connection:
            columns = {row[1] for row in connection.execute("PRAGMA table_info(injections)")}
            version = _version(connection)
    except sqlite3.DatabaseError as error:
        raise StoreUnusable(f"{path}: cannot be opened ({error}); restore it from a copy") from error
    if columns and not columns >= REQUIRED_COLUMNS:
        missing = ", ".join(sorted(REQUIRED_COLUMNS - columns))
        raise StoreUnusable(
            f"{path}: its table injections has no {missing}, so it is no injection log of this kind"
        )
    if version > SCHEMA_VERSION:
        raise StoreUnusable(
            f"{path}: was written by a newer protoconsole (schema {version}, this one knows {SCHEMA_VERSION});"
            " upgrade this one"
        )


def _version(connection: sqlite3.Connection) -> int:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'pc_injection_meta'").fetchone():
        return 0
    row = connection.execute("SELECT value FROM pc_injection_meta WHERE key = ?", (SCHEMA_MARKER,)).fetchone()
    return int(row[0]) if row and str(row[0]).isdigit() else 0
