"""Checks everything that an instance stands on, and mends what can be built anew."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from knowledge import adoption, checkup
from knowledge.preflight import refuse_unusable
from memory.injections import adoption as log_adoption
from memory.injections import checkup as log_checkup
from memory.injections import preflight as log_preflight
from memory.injections.head import path as head_path
from memory.injections.key import path as signing_key_path
from protoconsole.databases import CONSOLE
from protoconsole.errors import StoreUnusable
from protoconsole.findings import Finding, Level, found
from protoconsole.gateway import GatewayError, list_models
from protoconsole.instance import current
from protoconsole.store_files import has_content

NOT_OPENED = "run: manage.py serve"


def examine() -> Iterator[Finding]:
    """Check settings, modes, every store with its index, and the gateway."""
    paths = current().paths
    yield from _settings()
    yield _modes([paths.instance_root, paths.knowledge_db.parent], 0o700, "folders")
    yield _modes(_private_files(), 0o600, "files")
    yield _console()
    yield from _knowledge()
    yield from _injections()
    yield _other_store("playbooks index", paths.skills_db)
    yield _gateway()


def repair() -> None:
    """Close modes to others and build anew what is derived from rows; rows are never touched.

    Raises StoreUnusable, before anything was touched, for a store that only a copy can bring back.
    """
    paths = current().paths
    refuse_unusable(paths.knowledge_db)
    log_preflight.refuse_unusable(paths.injection_log)
    for path in (paths.instance_root, paths.knowledge_db.parent):
        _close(path, 0o700)
    for path in _private_files():
        _close(path, 0o600)
    if _is_opened(paths.knowledge_db):
        checkup.repair()
    if has_content(paths.injection_log) and log_adoption.is_adopted():
        log_checkup.repair()


def _private_files() -> list[Path]:
    paths = current().paths
    log = [paths.injection_log, signing_key_path(), head_path()]
    return [paths.knowledge_db, paths.console_db, paths.secret_key_file, *log]


def _settings() -> Iterator[Finding]:
    config = current().config
    for warning in config.warnings:
        yield Finding("settings", Level.WARNING, warning, "mend the key in the configuration file")
    if not config.warnings:
        yield Finding("settings", Level.OK, f"read from {config.file or 'defaults'}")


def _modes(paths: list[Path], mode: int, name: str) -> Finding:
    open_to_others = [
        f"{path} is {path.stat().st_mode & 0o777:04o}"
        for path in paths
        if path.exists() and path.stat().st_mode & 0o777 & ~mode
    ]
    if open_to_others:
        return Finding(f"modes of {name}", Level.WARNING, "; ".join(open_to_others), checkup.REPAIR)
    return Finding(f"modes of {name}", Level.OK, f"closed to others ({mode:04o})")


def _close(path: Path, mode: int) -> None:
    if path.exists():
        path.chmod(path.stat().st_mode & mode)


def _console() -> Finding:
    path = current().paths.console_db
    if not path.exists():
        return Finding("console database", Level.FAULT, f"{path} does not exist", NOT_OPENED)
    broken = _integrity(path)
    if broken:
        return Finding("console database", Level.FAULT, broken, "restore it from a copy")
    executor = MigrationExecutor(connections[CONSOLE])
    waiting = [str(step[0]) for step in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    return found("console database", waiting, well="sound and migrated", mend=NOT_OPENED)


def _knowledge() -> Iterator[Finding]:
    path = current().paths.knowledge_db
    try:
        refuse_unusable(path)
    except StoreUnusable as error:
        yield Finding("knowledge store", Level.FAULT, str(error))
        return
    if not _is_opened(path):
        yield Finding("knowledge store", Level.FAULT, f"{path} was never opened by protoconsole", NOT_OPENED)
        return
    yield from checkup.examine()
    older_program = adoption.older_program_warning()
    if older_program:
        yield Finding("other program", Level.WARNING, older_program)


def _injections() -> Iterator[Finding]:
    try:
        log_preflight.refuse_unusable(current().paths.injection_log)
    except StoreUnusable as error:
        yield Finding("injection log", Level.FAULT, str(error))
        return
    yield from log_checkup.examine()


def _is_opened(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0 and adoption.is_adopted()


def _other_store(name: str, path: Path) -> Finding:
    if not path.exists():
        return Finding(name, Level.OK, "none yet")
    broken = _integrity(path)
    return found(
        name, [broken] if broken else [], well="integrity check passed", mend="restore it from a copy"
    )


def _integrity(path: Path) -> str:
    """Give the first fault of a SQLite file, '' for a sound one; opens it for reading only."""
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
        ) as connection:
            fault = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return f"{path}: {error}"
    return "" if fault == "ok" else f"{path}: {fault}"


def _gateway() -> Finding:
    model = current().config.model
    if not model.api_base:
        return Finding("gateway", Level.OK, "none configured; recall is by keyword")
    try:
        models = list_models(model)
    except GatewayError as error:
        return Finding("gateway", Level.FAULT, str(error), "check model.api_base and model.api_key")
    return Finding("gateway", Level.OK, f"serves {len(models)} models")
