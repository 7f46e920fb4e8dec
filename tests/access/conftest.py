from collections.abc import Callable

import pytest
from django.test import Client

from protoconsole.access.keys import create_key
from protoconsole.access.models import Operator
from protoconsole.access.operators import create_operator
from protoconsole.actors import Role

PASSWORD = "correct horse battery staple"

MakeKey = Callable[..., str]


@pytest.fixture
def operator(db: None) -> Operator:
    return create_operator("olive", Role.OPERATOR, PASSWORD)


@pytest.fixture
def viewer(db: None) -> Operator:
    return create_operator("vera", Role.VIEWER, PASSWORD)


@pytest.fixture
def as_operator(client: Client, operator: Operator) -> Client:
    client.force_login(operator, "django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def as_viewer(client: Client, viewer: Operator) -> Client:
    client.force_login(viewer, "django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def make_key(db: None) -> MakeKey:
    """Make a key of a role, and of a name where it matters, and return its token."""

    def make(role: Role, name: str = "", **more: bool) -> str:
        _, token = create_key(name or f"the {role}", role, created_by="olive", **more)
        return token

    return make
