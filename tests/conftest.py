import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connections
from django.test import Client
from django.utils import timezone
from hypothesis import settings
from pytest_django import DjangoDbBlocker
from pytest_django.fixtures import Settings

from knowledge.adoption import Opening, open_store
from knowledge.search import fts5
from memory.injections.adoption import open_log
from protoconsole.access.models import Operator
from protoconsole.access.operators import create_operator
from protoconsole.actors import Role
from protoconsole.databases import CONSOLE, INJECTIONS, KNOWLEDGE
from protoconsole.instance import Instance, load_instance

# Where a build is judged, the same examples each time; new ones are looked for everywhere else.
settings.register_profile("ci", derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

FIXTURES = Path(__file__).parent / "fixtures"
PASSWORD = "correct horse battery staple"
PASSWORD_BACKEND = "django.contrib.auth.backends.ModelBackend"


def use_files(instance: Instance) -> None:
    """Point Django's databases at the files of an instance."""
    paths = instance.paths
    files = {CONSOLE: paths.console_db, KNOWLEDGE: paths.knowledge_db, INJECTIONS: paths.injection_log}
    for alias, path in files.items():
        connections[alias].close()
        connections.settings[alias]["NAME"] = str(path)


@pytest.fixture(scope="session")
def migrated_console(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: DjangoDbBlocker) -> Path:
    """A console database with its tables, made once and copied for each test."""
    path = tmp_path_factory.mktemp("template") / "console.db"
    connections.settings[CONSOLE]["NAME"] = str(path)
    with django_db_blocker.unblock():
        call_command("migrate", database=CONSOLE, verbosity=0)
        connections[CONSOLE].close()
    return path


@pytest.fixture
def instance(
    tmp_path: Path, settings: Settings, migrated_console: Path, django_db_blocker: DjangoDbBlocker
) -> Iterator[Instance]:
    """An instance of its own: real files, a migrated console database, no knowledge store yet."""
    made = load_instance({"PROTOAGENT_HOME": str(tmp_path / "instance")})
    made.paths.instance_root.mkdir()
    shutil.copyfile(migrated_console, made.paths.console_db)
    settings.INSTANCE = made
    use_files(made)
    with django_db_blocker.unblock():
        yield made
        connections.close_all()


@pytest.fixture
def db(instance: Instance) -> None:
    """In the place of pytest-django's: real files and real commits, the same as `instance`."""


@pytest.fixture
def store(instance: Instance) -> Opening:
    """A new, empty knowledge store, and an empty injection log."""
    open_log()
    return open_store(timezone.now())


@pytest.fixture
def legacy_files(instance: Instance) -> Path:
    """A copy of an instance that the agent's own program made, not yet opened; gives its knowledge store."""
    root = instance.paths.instance_root
    shutil.copytree(FIXTURES / "legacy", root, dirs_exist_ok=True)
    return instance.paths.knowledge_db


@pytest.fixture
def legacy(legacy_files: Path) -> Opening:
    """The same, opened."""
    open_log()
    return open_store(timezone.now())


@pytest.fixture
def without_fts5(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if SQLite had been built without FTS5."""
    monkeypatch.setattr(fts5, "available", lambda: False)


@pytest.fixture
def operator(db: None) -> Operator:
    return create_operator("olive", Role.OPERATOR, PASSWORD)


@pytest.fixture
def viewer(db: None) -> Operator:
    return create_operator("vera", Role.VIEWER, PASSWORD)


@pytest.fixture
def as_operator(client: Client, operator: Operator) -> Client:
    client.force_login(operator, PASSWORD_BACKEND)
    return client


@pytest.fixture
def as_viewer(client: Client, viewer: Operator) -> Client:
    client.force_login(viewer, PASSWORD_BACKEND)
    return client
