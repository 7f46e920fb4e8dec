"""SQLite for every store: settings, routing, and the one way to write."""

import fcntl
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections, transaction
from django.db.models import Model

from protoconsole.errors import StoreBusy
from protoconsole.paths import Paths

CONSOLE = DEFAULT_DB_ALIAS
KNOWLEDGE = "knowledge"
INJECTIONS = "injections"

LOCK_TIMEOUT_S = 10.0
PRAGMAS = (
    "PRAGMA synchronous = NORMAL;"  # with WAL, safe against a killed process
    "PRAGMA cache_size = -16000;"
    "PRAGMA mmap_size = 268435456;"
    "PRAGMA temp_store = MEMORY;"
)

_held = threading.local()


def _lenient(stored: bytes) -> str:
    return stored.decode(errors="replace")


def database_settings(paths: Paths) -> dict[str, dict[str, Any]]:
    """Give Django one database for each store; the journal mode is set when a store is opened."""
    return {
        CONSOLE: _sqlite(paths.console_db),
        KNOWLEDGE: _sqlite(paths.knowledge_db),
        INJECTIONS: _sqlite(paths.injection_log),
    }


def _sqlite(path: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "CONN_MAX_AGE": None,
        "OPTIONS": {"timeout": LOCK_TIMEOUT_S, "transaction_mode": "IMMEDIATE", "init_command": PRAGMAS},
    }


class Router:
    """Send each app to its store. The knowledge store's schema is not Django's to migrate."""

    def db_for_read(self, model: type[Model], **hints: object) -> str:
        return KNOWLEDGE if model._meta.app_label == "knowledge" else CONSOLE

    db_for_write = db_for_read

    def allow_migrate(self, db: str, app_label: str, **hints: object) -> bool:
        return db == CONSOLE and app_label != "knowledge"


def fetch(alias: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Run one hand-written statement and return its rows; `?` marks a parameter.

    It goes below Django's cursor, whose `%s` would make two spellings of SQL; errors are still Django's.
    """
    try:
        return _all_of(alias, sql, params)
    except OperationalError as error:
        if "Could not decode" not in str(error):
            raise
    return list(rows_of(alias, sql, params))


def _all_of(alias: str, sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    connection = connections[alias]
    connection.ensure_connection()
    with connection.wrap_database_errors:
        return connection.connection.execute(sql, params).fetchall()  # type: ignore[no-any-return]


def rows_of(alias: str, sql: str, params: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
    """Run one hand-written statement and read its rows one by one, for results of any size.

    Bytes that are no UTF-8, which another program may have stored, are shown instead of failing on the row.
    """
    connection = connections[alias]
    connection.ensure_connection()
    before, connection.connection.text_factory = connection.connection.text_factory, _lenient
    try:
        with connection.wrap_database_errors:
            yield from connection.connection.execute(sql, params)
    finally:
        connection.connection.text_factory = before


def execute_each(alias: str, sql: str, rows: Iterable[Sequence[Any]]) -> None:
    """Run one hand-written statement for each row of parameters."""
    connection = connections[alias]
    connection.ensure_connection()
    with connection.wrap_database_errors:
        connection.connection.executemany(sql, rows)


@contextmanager
def snapshot(alias: str) -> Iterator[None]:
    """Read a store as of one moment, without keeping anybody from writing."""
    fetch(alias, "BEGIN DEFERRED")
    try:
        yield
    finally:
        fetch(alias, "ROLLBACK")


@contextmanager
def write_transaction(alias: str, patience: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Run a block as one write transaction, after waiting in line for the store's write lock.

    SQLite's own back-off lets single writers starve; a lock file in front of it bounds the wait. A program
    that does not know the lock file is still kept out by SQLite. Nested blocks join the outer one.

    Raises StoreBusy when the lock cannot be had within `patience` seconds.
    """
    if connections[alias].in_atomic_block:
        yield
        return
    with (
        _write_lock(alias, patience),
        _busy_is_an_answer(),
        _busy_timeout(alias, patience),
        transaction.atomic(using=alias),
    ):
        yield


@contextmanager
def _busy_timeout(alias: str, patience: float) -> Iterator[None]:
    """Let SQLite wait no longer than the caller for a program that does not know the lock file."""
    if patience == LOCK_TIMEOUT_S:
        yield
        return
    fetch(alias, f"PRAGMA busy_timeout = {round(patience * 1000)}")
    try:
        yield
    finally:
        fetch(alias, f"PRAGMA busy_timeout = {round(LOCK_TIMEOUT_S * 1000)}")


@contextmanager
def _busy_is_an_answer() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise StoreBusy("another program holds the store's write lock; try again") from error
        raise


@contextmanager
def _write_lock(alias: str, patience: float) -> Iterator[None]:
    descriptor = _lock_descriptor(f"{connections[alias].settings_dict['NAME']}.lock")
    _acquire(descriptor, patience)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _lock_descriptor(path: str) -> int:
    """Keep one open lock file a thread: flock binds to the open file, so threads exclude each other too."""
    files: dict[str, int] = _held.__dict__.setdefault("files", {})
    if path not in files:
        files[path] = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    return files[path]


def _acquire(descriptor: int, patience: float) -> None:
    deadline = time.monotonic() + patience
    pause = 0.0005
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StoreBusy("the store's write lock is held by another process; try again") from None
            time.sleep(pause)
            pause = min(pause * 1.5, 0.005)
        else:
            return
