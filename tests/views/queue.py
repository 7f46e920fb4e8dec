"""What the tests of the queue share."""

from typing import Any

from django.http import HttpResponse
from django.test import Client

from knowledge import queries, services
from knowledge.types import Chunk, NewChunk
from protoconsole.databases import KNOWLEDGE, execute_each, write_transaction
from tests.actors import OPERATOR, PLUGIN

HTMX = {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "div#review"}
CARD = HTMX | {"HX-Target": "section#detail"}


def imported(content: str, **more: Any) -> Chunk:
    """Write a row that waits, as an import does."""
    added = services.add(NewChunk(content, **more), PLUGIN)
    assert added.chunk is not None
    return added.chunk


def rule(client: Client, chunk: Chunk, verdict: str, address: str = "", **headers: Any) -> HttpResponse:
    fields = {"verdict": verdict, "version": chunk.version}
    return client.post(f"/chunks/{chunk.id}/verdict/{address}", fields, **headers)


def read(chunk: Chunk) -> Chunk:
    return queries.get(chunk.id, OPERATOR)


def text(response: HttpResponse) -> str:
    return response.content.decode()


def listed(response: HttpResponse) -> list[int]:
    """Give the ids of the rows in the list, in their order."""
    return [row.chunk.id for row in response.context["rows"]]


def selection(response: HttpResponse, **fields: Any) -> dict[str, Any]:
    """Fill in the form for many rows as the page shows it."""
    seen = response.context["queue"].matching
    bound = {"seen_count": seen.count, "seen_newest": seen.newest, "query": response.context["filter"]}
    return bound | fields


def many(count: int) -> None:
    """Write rows that wait, below the services: this is about reading them."""
    at = "2026-03-01T00:00:00+00:00"
    sql = (
        "INSERT INTO chunks (content, domain, source, source_type, created_at, updated_at, memory_kind,"
        " review_state, delivery_policy) VALUES (?, 'general', ?, 'conversation', ?, ?, 'note', 'pending',"
        " 'retrieved')"
    )
    rows = ((f"The row {n} of many.", f"chat-{n % 7}", at, at) for n in range(count))
    with write_transaction(KNOWLEDGE):
        execute_each(KNOWLEDGE, sql, rows)
