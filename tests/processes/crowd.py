"""Those who use a store at the same time: `python -m tests.processes.crowd NAME SECONDS ...`.

Each runs in a process of its own, prints the id and the text of every write that was acknowledged, one JSON
line each, and ends with an error at the first answer that is not a success.
"""

import json
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import httpx


def operators_script(url: str, key: str) -> Iterator[tuple[int, str]]:
    """Add rows, search, list and read, as a script of an operator does."""
    with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=30) as client:
        for text in texts("noted"):
            added = client.post("api/knowledge/chunks", json={"content": text, "domain": "general"})
            yield added.raise_for_status().json()["id"], text
            client.get("api/knowledge/search", params={"q": "remembered"}).raise_for_status()
            client.get("api/knowledge/chunks", params={"limit": "20"}).raise_for_status()
            client.get("api/knowledge/stats").raise_for_status()


def agent(url: str, key: str) -> Iterator[tuple[int, str]]:
    """Remember and recall by tools, as an agent does."""
    headers = {"Authorization": f"Bearer {key}", "X-Session-Id": "chat-soak"}
    with httpx.Client(base_url=url, headers=headers, timeout=30) as client:
        for text in texts("remembered"):
            answer = client.post("api/tools/memory_ingest", json={"content": text}).raise_for_status().json()
            yield answer["data"]["id"], text
            client.post("api/tools/memory_recall", json={"query": text}).raise_for_status()


def other_program(path: str) -> Iterator[tuple[int, str]]:
    """Insert rows without the typed columns, by a connection of its own each time."""
    sql = """INSERT INTO chunks (content, domain, source, source_type, created_at, updated_at)
        VALUES (?, 'conversation', 'chat-other', 'conversation', ?, ?)"""
    for text in texts("inserted"):
        now = datetime.now(UTC).isoformat()
        with closing(sqlite3.connect(path)) as connection, connection:
            row_id = connection.execute(sql, (text, now, now)).lastrowid
        assert row_id is not None
        yield row_id, text


def judge() -> Iterator[tuple[int, str] | None]:
    """Reject and re-open in bulk all that the agent wrote, from a process beside the server.

    None stands for a try that was refused, so that one who is always late still hears of the end.
    """
    import django

    django.setup()
    from knowledge.errors import Conflict
    from knowledge.facets import selection_of
    from knowledge.services import review_matching
    from knowledge.types import ChunkQuery, Verdict
    from protoconsole.actors import Actor, Role, Surface

    olive = Actor("olive", Role.OPERATOR, Surface.PAGE)
    for verdict in turns((Verdict.REJECTED, Verdict.PENDING)):
        try:
            batch = review_matching(selection_of(ChunkQuery(sources=("chat-soak",))), verdict, olive)
        except Conflict:  # rows came in between, which is an answer
            yield None
        else:
            yield batch.count, batch.id


def texts(verb: str) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"{verb} as number {number} of its kind"


def turns(values: tuple[str, ...]) -> Iterator[str]:
    while True:
        yield from values


CROWD = {one.__name__: one for one in (operators_script, agent, other_program, judge)}


def main() -> None:
    name, seconds, *args = sys.argv[1:]
    deadline = time.monotonic() + float(seconds)
    for acknowledged in CROWD[name](*args):  # type: ignore[operator]
        if acknowledged:
            print(json.dumps(acknowledged), flush=True)
        if time.monotonic() > deadline:
            return


if __name__ == "__main__":
    main()
