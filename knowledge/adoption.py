"""Opens a knowledge store, whoever made it: adds what is missing, and changes nothing else.

Everything here may be repeated: a start that was killed half-way is finished by the next one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.db import connections

from knowledge import catch_up, schema
from knowledge.kinds import first_verdict, kind_for, policy_for
from knowledge.preflight import SCHEMA_MARKER, refuse_unusable
from knowledge.search import fts5
from knowledge.times import to_iso
from protoconsole.databases import KNOWLEDGE, fetch, write_transaction
from protoconsole.paths import make_private_dir, make_private_file
from protoconsole.store_files import copy_aside, has_content, run_script, use_wal

TYPED_BACKFILL = "typed_memory_backfill"
REVIEW_BACKFILL = "review_state_backfill"
FIRST_OPENED = "pc_first_opened"
OLDER_PROGRAM = "pc_adopted_untyped"
INDEX_AT_ONCE = 20_000
OLDER_PROGRAM_WARNING = (
    "the other program of this store is older than verdicts and will go on delivering rejected rows"
)
OLDER_PROGRAM_MEND = "upgrade it, or set knowledge.reject_invalidates: true"


@dataclass(frozen=True, slots=True)
class Opening:
    """What opening a store found and did, for the start message and the overview."""

    path: Path
    created: bool
    copy: Path | None
    older_program: bool
    wal: bool
    index_pending: int


def open_store(now: datetime) -> Opening:
    """Make the knowledge store ready to serve.

    Raises StoreUnusable, before anything was touched, for a file that cannot serve.
    """
    path = Path(str(connections[KNOWLEDGE].settings_dict["NAME"]))
    refuse_unusable(path)
    created = not has_content(path)
    make_private_dir(path.parent)
    make_private_file(path)
    copy = None if created or is_adopted() else copy_aside(path, schema.SCHEMA_VERSION)
    wal = use_wal(KNOWLEDGE)
    if not is_adopted() or not is_derived_current():
        with write_transaction(KNOWLEDGE):
            _add_what_is_missing(to_iso(now))
    _index_at_once()
    return Opening(path, created, copy, is_shared_with_older_program(), wal, catch_up.pending())


def _index_at_once() -> None:
    """Index a store of ordinary size before serving; a huge one is left to the maintenance work."""
    for _ in range(INDEX_AT_ONCE // catch_up.BATCH):
        if not catch_up.catch_up():
            return


def is_shared_with_older_program() -> bool:
    """Say whether the store came without typed columns, so that its other program ignores verdicts."""
    return marker(OLDER_PROGRAM) is not None


def marker(key: str) -> str | None:
    rows = fetch(KNOWLEDGE, "SELECT value FROM _kb_meta WHERE key = ?", (key,))
    return str(rows[0][0]) if rows else None


def is_adopted() -> bool:
    """Say whether this schema has opened the store before."""
    exists = fetch(KNOWLEDGE, "SELECT 1 FROM sqlite_master WHERE name = '_kb_meta'")
    return bool(exists) and marker(SCHEMA_MARKER) == str(schema.SCHEMA_VERSION)


def _add_what_is_missing(now: str) -> None:
    columns = _columns()
    run_script(KNOWLEDGE, schema.SHARED_TABLES)
    for name in schema.OPTIONAL_COLUMNS:
        if columns and name not in columns:
            fetch(KNOWLEDGE, f"ALTER TABLE chunks ADD COLUMN {name} TEXT")
    if columns and not columns.issuperset(schema.TYPED_COLUMNS):
        _mark_once(OLDER_PROGRAM, now)
    run_script(KNOWLEDGE, schema.OWN_TABLES)
    run_script(KNOWLEDGE, schema.INDEXES)
    _backfill(TYPED_BACKFILL, now, "memory_kind", kind_for)
    _backfill(TYPED_BACKFILL, now, "delivery_policy", lambda domain, _: policy_for(domain, None))
    _mark_once(TYPED_BACKFILL, now)
    _backfill(REVIEW_BACKFILL, now, "review_state", lambda _, source_type: first_verdict(source_type))
    _mark_once(REVIEW_BACKFILL, now)
    if not is_derived_current():
        rebuild_derived()
    _mark_once(FIRST_OPENED, now)
    _mark_once(SCHEMA_MARKER, str(schema.SCHEMA_VERSION))


def _backfill(one_shot: str, now: str, column: str, stamp: Callable[[str, str | None], str]) -> None:
    """Fill the NULL cells of a column, unless the pass was done before by any program."""
    if marker(one_shot) is not None:
        return
    for domain, source_type in fetch(
        KNOWLEDGE, f"SELECT DISTINCT domain, source_type FROM chunks WHERE {column} IS NULL"
    ):
        fetch(
            KNOWLEDGE,
            f"UPDATE chunks SET {column} = ? WHERE {column} IS NULL AND domain = ? AND source_type IS ?",
            (stamp(domain, source_type), domain, source_type),
        )


def is_derived_current() -> bool:
    """Say whether our triggers stand as written here and the index was built by this version of it."""
    standing = dict(fetch(KNOWLEDGE, "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
    wanted = {name: _trigger_sql(name) for name in schema.TRIGGERS}
    triggers_stand = all(standing.get(name) == sql for name, sql in wanted.items())
    return triggers_stand and (not fts5.available() or marker(catch_up.INDEX_MARKER) == fts5.INDEX_VERSION)


def rebuild_derived() -> None:
    """Set the triggers anew, recount, and queue every row for the index; needs a write transaction."""
    for name in schema.TRIGGERS:
        fetch(KNOWLEDGE, f"DROP TRIGGER IF EXISTS {name}")
        fetch(KNOWLEDGE, _trigger_sql(name))
    run_script(KNOWLEDGE, schema.RECOUNT)
    run_script(KNOWLEDGE, schema.QUEUE_ALL)
    if fts5.available():
        fts5.create()
        _mark(catch_up.INDEX_MARKER, fts5.INDEX_VERSION)


def _trigger_sql(name: str) -> str:
    return f"CREATE TRIGGER {name} {schema.TRIGGERS[name]}"


def _columns() -> set[str]:
    return {row[1] for row in fetch(KNOWLEDGE, "PRAGMA table_info(chunks)")}


def _mark_once(key: str, value: str) -> None:
    fetch(KNOWLEDGE, "INSERT OR IGNORE INTO _kb_meta (key, value) VALUES (?, ?)", (key, value))


def _mark(key: str, value: str) -> None:
    fetch(KNOWLEDGE, "INSERT OR REPLACE INTO _kb_meta (key, value) VALUES (?, ?)", (key, value))
