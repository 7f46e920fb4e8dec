"""Times of list, search, facets, bulk verdicts and consolidation, beside the straightforward way.

    python -m benchmarks.bench_store 1000 10000 100000

The straightforward way is what a first version would do: a connection for each call, `ORDER BY created_at`,
an FTS5 table ranked over all words joined by OR, GROUP BY over all rows, one transaction for each verdict,
and each fact compared with every other.
"""

import os
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

HOME = tempfile.TemporaryDirectory(prefix="protoconsole-bench-")
os.environ |= {"PROTOAGENT_HOME": HOME.name, "DJANGO_SETTINGS_MODULE": "protoconsole.settings"}

import django  # noqa: E402

django.setup()

from django.db import connections  # noqa: E402
from django.utils import timezone  # noqa: E402

from benchmarks.synthetic import COLUMNS, Synthesis  # noqa: E402
from knowledge import catch_up, facts, queries, services  # noqa: E402
from knowledge.adoption import open_store  # noqa: E402
from knowledge.facets import facets, selection_of  # noqa: E402
from knowledge.types import ChunkQuery, NewChunk, State, Verdict  # noqa: E402
from protoconsole.actors import Actor, Role, Surface  # noqa: E402
from protoconsole.databases import KNOWLEDGE, execute_each, write_transaction  # noqa: E402

OPERATOR = Actor("bench", Role.OPERATOR, Surface.COMMAND)
AGENT = Actor("bench", Role.AGENT, Surface.TOOL, session_id="bench")
ROUNDS = 40
Timings = list[float]


def build(count: int) -> Path:
    """Make a store of our own with synthetic rows, indexed, and beside it one of the straightforward kind."""
    path = Path(HOME.name) / f"{count}.db"
    connections[KNOWLEDGE].close()
    connections.settings[KNOWLEDGE]["NAME"] = str(path)
    open_store(timezone.now())
    rows = list(Synthesis().rows(count))
    marks = ", ".join("?" * len(rows[0]))
    with write_transaction(KNOWLEDGE):
        execute_each(KNOWLEDGE, f"INSERT INTO chunks ({COLUMNS}) VALUES ({marks})", rows)
    while catch_up.catch_up():
        pass
    plain = path.with_suffix(".plain")
    with closing(sqlite3.connect(plain)) as other:
        other.execute(f"CREATE TABLE chunks (id INTEGER PRIMARY KEY, {COLUMNS})")
        other.execute(
            "CREATE VIRTUAL TABLE fts USING fts5(content, heading, content='chunks', content_rowid='id')"
        )
        other.executemany(f"INSERT INTO chunks ({COLUMNS}) VALUES ({marks})", rows)
        other.execute("INSERT INTO fts (fts) VALUES ('rebuild')")
        other.commit()
    return plain


def timed(call: Callable[[], object], rounds: int = ROUNDS) -> Timings:
    timings = []
    for _ in range(rounds):
        began = perf_counter()
        call()
        timings.append((perf_counter() - began) * 1000)
    return timings


def straightforward(plain: Path, sql: str, params: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(plain)) as connection:
        return connection.execute(sql, params).fetchall()


def measure(count: int) -> None:
    plain = build(count)
    questions = Synthesis(2).questions(ROUNDS * 2)
    asked, also_asked = iter(questions), iter(questions)

    def ask_plainly() -> object:
        words = " OR ".join(f'"{word}"' for word in next(also_asked).split())
        sql = "SELECT c.* FROM fts JOIN chunks c ON c.id = fts.rowid WHERE fts MATCH ? ORDER BY rank LIMIT 10"
        return straightforward(plain, sql, (words,))

    def count_plainly() -> object:
        dimensions = ("domain", "source_type", "review_state", "namespace", "source")
        return [
            straightforward(plain, f"SELECT {name}, COUNT(*) FROM chunks GROUP BY {name}")
            for name in dimensions
        ]

    report(count, "list, newest 50", timed(lambda: queries.browse(ChunkQuery(), OPERATOR)),
           timed(lambda: straightforward(plain, "SELECT * FROM chunks ORDER BY created_at DESC LIMIT 50")))  # fmt: skip
    report(count, "search, best 10", timed(lambda: queries.search(ChunkQuery(text=next(asked)), OPERATOR)),
           timed(ask_plainly))  # fmt: skip
    report(count, "facets, all", timed(lambda: facets(ChunkQuery())), timed(count_plainly, 5))
    report(
        count,
        "facets, two filters",
        timed(lambda: facets(ChunkQuery(domains=("fact",), namespaces=("ns-7",)))),
        [],
    )
    report(
        count,
        "review queue, oldest 50",
        timed(lambda: queries.browse(ChunkQuery(states=(State.PENDING,)), OPERATOR)),
        [],
    )
    report(count, "add a row", timed(lambda: services.add(NewChunk(questions[0]), AGENT)), [])
    report(count, "one fact among all", timed(remember_something(count)), timed(compare_with_all(plain), 3))
    report(
        count, "reject 500, one transaction", timed(reject_many(500), 1), timed(reject_plainly(plain, 500), 1)
    )


def remember_something(count: int) -> Callable[[], object]:
    source = Synthesis(3)
    return lambda: services.remember(NewChunk(source.text(12), domain="fact", namespace="ns-7"), AGENT)


def compare_with_all(plain: Path) -> Callable[[], object]:
    new = Synthesis(3).text(12)
    sql = "SELECT id, content FROM chunks WHERE domain = 'fact' AND namespace = 'ns-7'"
    return lambda: facts.best(new, straightforward(plain, sql))  # type: ignore[arg-type]


def reject_many(most: int) -> Callable[[], object]:
    page = queries.browse(ChunkQuery(states=(State.PENDING,)), OPERATOR, limit=200).items
    more = queries.browse(
        ChunkQuery(states=(State.PENDING,)), OPERATOR, limit=200, cursor=str(page[-1].id)
    ).items
    rest = queries.browse(
        ChunkQuery(states=(State.PENDING,)), OPERATOR, limit=200, cursor=str(more[-1].id)
    ).items
    ids = tuple(chunk.id for chunk in (*page, *more, *rest))[:most]
    selection = selection_of(ChunkQuery(ids=ids))
    return lambda: services.review_matching(selection, Verdict.REJECTED, OPERATOR)


def reject_plainly(plain: Path, most: int) -> Callable[[], object]:
    def reject() -> None:
        for row_id in range(1, most + 1):
            with closing(sqlite3.connect(plain)) as connection:
                connection.execute("UPDATE chunks SET review_state = 'rejected' WHERE id = ?", (row_id,))
                connection.commit()

    return reject


def report(count: int, what: str, ours: Timings, theirs: Timings) -> None:
    def shown(timings: Timings) -> str:
        if not timings:
            return "–"
        p95 = quantiles(timings, n=20)[-1] if len(timings) > 1 else timings[0]
        return f"{median(timings):.2f} ({p95:.2f})"

    ratio = f"{median(theirs) / median(ours):.1f}×" if theirs else ""
    print(f"| {count:>9,} | {what:<28} | {shown(ours):>18} | {shown(theirs):>20} | {ratio:>8} |", flush=True)


if __name__ == "__main__":
    print("| rows | what | ours: median (p95) ms | straightforward: median (p95) ms | ratio |")
    print("|---:|---|---:|---:|---:|")
    for size in map(int, sys.argv[1:] or ("1000", "10000", "100000")):
        measure(size)
