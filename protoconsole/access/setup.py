"""The console's own store: made private, and brought to the present schema."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management import call_command
from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor

from protoconsole.databases import CONSOLE
from protoconsole.errors import StoreUnusable
from protoconsole.instance import current
from protoconsole.paths import make_private_dir, make_private_file, private_opener


def prepare_console() -> None:
    """Make console.db and its tables where they are missing; safe to repeat and to run twice at once.

    Raises StoreUnusable when the file cannot be made or is no store.
    """
    path = current().paths.console_db
    try:
        make_private_dir(path.parent)
        make_private_file(path)
        with _one_at_a_time(path.with_name(f"{path.name}.setup")):
            _migrate()
    except (OSError, DatabaseError) as error:
        raise StoreUnusable(f"{path}: the console's store cannot be used: {error}") from error


def _migrate() -> None:
    executor = MigrationExecutor(connections[CONSOLE])
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", database=CONSOLE, verbosity=0, interactive=False)


@contextmanager
def _one_at_a_time(lock: Path) -> Iterator[None]:
    with open(lock, "w", encoding="ascii", opener=private_opener) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
