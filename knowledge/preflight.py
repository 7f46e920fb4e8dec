"""Looks at a store before anything opens it for writing, and refuses in one line."""

import sqlite3
from contextlib import closing
from pathlib import Path

from knowledge import markers, schema
from protoconsole.errors import StoreUnusable
from protoconsole.store_files import has_content, open_untouched, refuse_foreign_file, refuse_unwritable

PATH_VARIABLE = "KNOWLEDGE_DB_PATH"


def refuse_unusable(path: Path) -> None:
    """Raise StoreUnusable where the file cannot serve as a knowledge store; touch nothing."""
    refuse_unwritable(path, PATH_VARIABLE)
    if has_content(path):
        refuse_foreign_file(path, PATH_VARIABLE)
        _refuse_schema(path)


def _refuse_schema(path: Path) -> None:
    try:
        with closing(open_untouched(path)) as connection:
            columns = {row[1] for row in connection.execute("PRAGMA table_info(chunks)")}
            version = _marker(connection)
    except sqlite3.DatabaseError as error:
        raise StoreUnusable(f"{path}: cannot be opened ({error}); restore it from a copy") from error
    if columns and not columns >= schema.REQUIRED_COLUMNS:
        missing = ", ".join(sorted(schema.REQUIRED_COLUMNS - columns))
        raise StoreUnusable(
            f"{path}: its table chunks has no {missing}, so it is no knowledge store of this kind"
        )
    if version > schema.SCHEMA_VERSION:
        raise StoreUnusable(
            f"{path}: was written by a newer protoconsole (schema {version}, this one knows {schema.SCHEMA_VERSION});"
            " upgrade this one"
        )


def _marker(connection: sqlite3.Connection) -> int:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_kb_meta'").fetchone():
        return 0
    row = connection.execute("SELECT value FROM _kb_meta WHERE key = ?", (markers.SCHEMA,)).fetchone()
    return int(row[0]) if row and str(row[0]).isdigit() else 0
