from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.harness import RunningServer, running_server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.processes)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The root of an instance that nobody has made yet."""
    return tmp_path / "instance"


@pytest.fixture
def server(root: Path) -> Iterator[RunningServer]:
    """A server over a new instance."""
    with running_server(root) as running:
        yield running
