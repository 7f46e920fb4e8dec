"""Rows for tests of pages: written through the services, or, in great numbers, as the other program does."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections

from knowledge import catch_up, services
from knowledge.types import Chunk, NewChunk
from protoconsole.databases import KNOWLEDGE
from tests.actors import AGENT, OPERATOR

AT = "2026-05-01T08:00:00+00:00"
_INSERT = """INSERT INTO chunks
    (content, domain, heading, source, source_type, namespace, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""


def note(content: str = "The gateway has three nodes.", **values: Any) -> Chunk:
    """Store a row as an operator."""
    return _stored(services.add(NewChunk(content, **values), OPERATOR).chunk)


def learnt(content: str = "The gateway has three nodes.", **values: Any) -> Chunk:
    """Store a row as an agent."""
    return _stored(services.add(NewChunk(content, **values), AGENT).chunk)


def _stored(chunk: Chunk | None) -> Chunk:
    assert chunk is not None
    return chunk


def many(count: int) -> None:
    """Store rows of many sources, namespaces and kinds, and bring the index up to date."""
    rows = (
        (
            f"Row {n}: the gateway of cluster {n % 97} drains node {n % 13} before the {n % 28 + 1}.",
            ("fact", "general", "conversation", "preferences", "finding")[n % 5],
            f"Heading {n}" if n % 3 else None,
            f"chat-{n % (count // 10):05}",
            ("conversation", "html", "operator", "extracted", None)[n % 5],
            f"team-{n % 300}" if n % 2 else None,
            AT,
            AT,
        )
        for n in range(count)
    )
    with closing(sqlite3.connect(knowledge_file())) as connection, connection:
        connection.executemany(_INSERT, rows)
    while catch_up.catch_up(5_000):
        pass


def knowledge_file() -> Path:
    path: Path = settings.INSTANCE.paths.knowledge_db
    return path


def rows_now() -> list[tuple[Any, ...]]:
    """Read every row as another program sees it, but for the times."""
    columns = "id, content, heading, domain, source, source_type, namespace, memory_kind, subject"
    more = "review_state, delivery_policy, invalidated_at IS NULL, invalidation_reason"
    with closing(sqlite3.connect(knowledge_file())) as connection:
        return connection.execute(f"SELECT {columns}, {more} FROM chunks ORDER BY id").fetchall()


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect the statements that we run on the knowledge store, with their values filled in.

    Those that a trigger or the search index runs of its own are told as comments, and left out.
    """
    connections[KNOWLEDGE].ensure_connection()
    heard: list[str] = []
    connections[KNOWLEDGE].connection.set_trace_callback(
        lambda statement: None if statement.startswith("--") else heard.append(statement)
    )
    try:
        yield heard
    finally:
        connections[KNOWLEDGE].connection.set_trace_callback(None)


@contextmanager
def vm_steps() -> Iterator[Callable[[], int]]:
    """Count the steps that SQLite takes for the knowledge store: what is read, whatever a plan calls it.

    The count is told in hundreds. A step is about one row, one comparison or one column.
    """
    connections[KNOWLEDGE].ensure_connection()
    taken = 0

    def hundred_more() -> int:
        nonlocal taken
        taken += 100
        return 0

    connections[KNOWLEDGE].connection.set_progress_handler(hundred_more, 100)
    try:
        yield lambda: taken
    finally:
        connections[KNOWLEDGE].connection.set_progress_handler(None, 100)
