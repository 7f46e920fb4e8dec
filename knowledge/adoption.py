"""Opens a knowledge store, whoever made it: adds what is missing, and changes nothing else.

Everything here may be repeated: a start that was killed half-way is finished by the next one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.db import connections

from knowledge import catch_up, markers, schema
from knowledge.kinds import first_verdict, kind_for, policy_for
from knowledge.preflight import refuse_unusable
from knowledge.search import fts5
from knowledge.times import to_iso
from protoconsole.databases import KNOWLEDGE, fetch, write_transaction
from protoconsole.instance import current
from protoconsole.paths import make_private_dir, make_private_file
from protoconsole.store_files import copy_aside, has_content, run_script, use_wal

INDEX_AT_ONCE = 20_000


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
    """Say whether the store came without typed columns, and no row since tells of an upgrade."""
    return markers.get(markers.OLDER_PROGRAM) is not None


def older_program_warning() -> str | None:
    """Warn, with the mend, where rejected rows go on being delivered by the other program of the store."""
    if not is_shared_with_older_program() or current().config.knowledge.reject_invalidates:
        return None
    return (
        "the other program of this store is older than verdicts and goes on delivering rejected rows;"
        " upgrade it, or set knowledge.reject_invalidates: true"
    )


def is_adopted() -> bool:
    """Say whether this schema has opened the store before."""
    exists = fetch(KNOWLEDGE, "SELECT 1 FROM sqlite_master WHERE name = '_kb_meta'")
    return bool(exists) and markers.get(markers.SCHEMA) == str(schema.SCHEMA_VERSION)


def _add_what_is_missing(now: str) -> None:
    columns = _columns()
    run_script(KNOWLEDGE, schema.SHARED_TABLES)
    for name in schema.OPTIONAL_COLUMNS:
        if columns and name not in columns:
            fetch(KNOWLEDGE, f"ALTER TABLE chunks ADD COLUMN {name} TEXT")
    if columns and not columns.issuperset(schema.TYPED_COLUMNS):
        markers.put_once(markers.OLDER_PROGRAM, _newest_id())
    run_script(KNOWLEDGE, schema.OWN_TABLES)
    _backfill(markers.TYPED_BACKFILL, "memory_kind", kind_for)
    _backfill(markers.TYPED_BACKFILL, "delivery_policy", lambda domain, _: policy_for(domain, None))
    markers.put_once(markers.TYPED_BACKFILL, now)
    _backfill(markers.REVIEW_BACKFILL, "review_state", lambda _, source_type: first_verdict(source_type))
    markers.put_once(markers.REVIEW_BACKFILL, now)
    if not is_derived_current():
        rebuild_derived()
    markers.put_once(markers.FIRST_OPENED, now)
    markers.put(markers.SCHEMA, str(schema.SCHEMA_VERSION))


def _backfill(one_shot: str, column: str, stamp: Callable[[str, str | None], str]) -> None:
    """Fill the NULL cells of a column, unless the pass was done before by any program."""
    if markers.get(one_shot) is not None:
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
    return triggers_stand and (not fts5.available() or markers.get(markers.INDEX) == fts5.INDEX_VERSION)


def rebuild_derived() -> None:
    """Set tables and triggers anew, recount, and queue every row for the index; needs a write transaction."""
    run_script(KNOWLEDGE, schema.OWN_TABLES)
    run_script(KNOWLEDGE, schema.INDEXES)
    for name in schema.TRIGGERS:
        fetch(KNOWLEDGE, f"DROP TRIGGER IF EXISTS {name}")
        fetch(KNOWLEDGE, _trigger_sql(name))
    run_script(KNOWLEDGE, schema.RECOUNT)
    run_script(KNOWLEDGE, schema.QUEUE_ALL)
    if fts5.available():
        fts5.create()
        markers.put(markers.INDEX, fts5.INDEX_VERSION)


def _trigger_sql(name: str) -> str:
    return f"CREATE TRIGGER {name} {schema.TRIGGERS[name]}"


def _newest_id() -> str:
    return str(fetch(KNOWLEDGE, "SELECT COALESCE(MAX(id), 0) FROM chunks")[0][0])


def _columns() -> set[str]:
    return {row[1] for row in fetch(KNOWLEDGE, "PRAGMA table_info(chunks)")}
