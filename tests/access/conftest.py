from collections.abc import Callable

import pytest

from protoconsole.access.keys import create_key
from protoconsole.actors import Role

MakeKey = Callable[..., str]


@pytest.fixture
def make_key(db: None) -> MakeKey:
    """Make a key of a role, and of a name where it matters, and return its token."""

    def make(role: Role, name: str = "", **more: bool) -> str:
        _, token = create_key(name or f"the {role}", role, created_by="olive", **more)
        return token

    return make
