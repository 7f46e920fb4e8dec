"""Opens an injection log, whoever made it: adds what is missing, and changes nothing else.

Everything here may be repeated: a start that was killed half-way is finished by the next one.
"""

from dataclasses import dataclass
from pathlib import Path

from django.db import connections

from memory.injections import head, index, meta, schema
from memory.injections.key import signing_key
from memory.injections.preflight import refuse_unusable
from protoconsole.databases import INJECTIONS, fetch, write_transaction
from protoconsole.paths import make_private_dir, make_private_file
from protoconsole.store_files import copy_aside, has_content, run_script, use_wal

INDEX_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class LogOpening:
    """What opening the log found and did, for the start message."""

    path: Path
    created: bool
    copy: Path | None
    wal: bool
    index_pending: int


def open_log() -> LogOpening:
    """Make the injection log ready to be written.

    Raises StoreUnusable, before anything was touched, for a file that cannot serve, and OSError where its key
    cannot be kept.
    """
    path = log_path()
    refuse_unusable(path)
    created = not has_content(path)
    make_private_dir(path.parent)
    make_private_file(path)
    copy = None if created or is_adopted() else copy_aside(path, schema.SCHEMA_VERSION)
    wal = use_wal(INJECTIONS)
    if not is_adopted():
        with write_transaction(INJECTIONS):
            _add_what_is_missing()
    with write_transaction(INJECTIONS):
        head.begin(signing_key())
    _index_at_once()
    return LogOpening(path, created, copy, wal, index.pending())


def log_path() -> Path:
    return Path(str(connections[INJECTIONS].settings_dict["NAME"]))


def is_adopted() -> bool:
    """Say whether this schema has opened the log before."""
    exists = fetch(INJECTIONS, "SELECT 1 FROM sqlite_master WHERE name = 'pc_injection_meta'")
    return bool(exists) and meta.get(schema.SCHEMA_MARKER) == str(schema.SCHEMA_VERSION)


def _add_what_is_missing() -> None:
    run_script(INJECTIONS, schema.SHARED_TABLES)
    columns = {row[1] for row in fetch(INJECTIONS, "PRAGMA table_info(injections)")}
    for name, kind in schema.ADDED_COLUMNS.items():
        if name not in columns:
            fetch(INJECTIONS, f"ALTER TABLE injections ADD COLUMN {name} {kind}")
    run_script(INJECTIONS, schema.OWN_TABLES)
    for trigger in schema.TRIGGERS:
        fetch(INJECTIONS, trigger)
    meta.put(schema.SCHEMA_MARKER, str(schema.SCHEMA_VERSION))


def _index_at_once() -> None:
    """Index a log of ordinary size before serving; a huge one is left to the maintenance work."""
    for _ in range(INDEX_AT_ONCE // index.BATCH):
        if not index.catch_up():
            return
