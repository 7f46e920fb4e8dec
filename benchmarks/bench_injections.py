"""Times of the injection log, and the room that a turn takes.

    python -m benchmarks.bench_injections 1000000

The log is filled with rows as the other program appends them (two always-on chunks in each, three sessions
told of, five hits out of 20,000), with a session for every 20 turns; then turns of our own are recorded, read
back and looked up.
"""

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

HOME = tempfile.TemporaryDirectory(prefix="protoconsole-bench-")
os.environ |= {"PROTOAGENT_HOME": HOME.name, "DJANGO_SETTINGS_MODULE": "protoconsole.settings"}

import django  # noqa: E402

django.setup()

from django.db import connections  # noqa: E402

from benchmarks.synthetic import Synthesis  # noqa: E402
from knowledge.types import TrustTier, Verdict  # noqa: E402
from memory.injections import index, queries  # noqa: E402
from memory.injections.adoption import open_log  # noqa: E402
from memory.injections.record import record  # noqa: E402
from memory.injections.types import TurnQuery  # noqa: E402
from memory.types import Budget, Delivered, LeftOut, Part, Projection, Reason, Section  # noqa: E402
from protoconsole.databases import INJECTIONS, execute_each, fetch, write_transaction  # noqa: E402

START = datetime(2026, 1, 1, tzinfo=UTC)
CHUNKS = 20_000
ROUNDS = 200
RECORDED = 2_000
PLAYBOOKS = 24


class Conversations:
    """Turns as an agent with some months of memory has them, the same for the same seed."""

    def __init__(self, playbooks: int = PLAYBOOKS) -> None:
        self._random = random.Random(7)
        texts = Synthesis(7)
        self._chunks = [texts.text(30) for _ in range(1_000)]
        self._always = [self._entry(Part.ALWAYS_ON, n, n, TrustTier.OPERATOR) for n in range(1, 13)]
        self._sessions = [f"chat-{n:04} · {texts.text(8)}" for n in range(200)]
        self._playbooks = [
            Delivered(Part.AVAILABLE_SKILLS, f"playbook-{n}", n, f"- playbook-{n}: {texts.text(12)}")
            for n in range(1, playbooks + 1)
        ]

    def turn(self, number: int) -> Projection:
        """Ten sessions told of, of which one has changed; twelve always-on rows, five hits, the playbooks."""
        hits = [
            self._entry(Part.HITS, self._random.randrange(20, 1_000), rank, TrustTier.EXTERNAL, 0.5 / rank)
            for rank in range(1, 6)
        ]
        told = [
            Delivered(Part.PRIOR_SESSIONS, f"chat-{n:04}", rank, f"{self._sessions[n]} · {number // 10} msgs")
            for rank, n in enumerate(range(number % 190, number % 190 + 10), 1)
        ]
        memory = [
            "<injected_memory>",
            "Reference data.",
            "<prior_sessions>",
            *words(told),
            "</prior_sessions>",
        ]
        memory += [*words(self._always), *words(hits), "</injected_memory>"]
        skills = ["<available_skills>", *words(self._playbooks), "</available_skills>"]
        state = ["<working_state>", f"Goal: step {number}", "</working_state>"]
        text = "\n".join([*memory, *skills, *state])
        return Projection(
            text=text,
            sections=[Section(part, len(text) // 5, truncated=False) for part in Part],
            delivered=[*told, *self._always, *hits, *self._playbooks],
            left_out=[LeftOut(Part.HITS, self._random.randrange(CHUNKS), Reason.CAP) for _ in range(10)],
            sources=["https://forum.example.net/t/441", "notes/project.md"],
            budget=Budget(40_960, len(text)),
            stage_counts={"effective_top_k": 5, "retrieved": 15, "trust_filtered": 0, "final": 5},
        )

    def _entry(
        self, part: Part, ref: int, rank: int, tier: TrustTier, score: float | None = None
    ) -> Delivered:
        line = f"- [fact] {self._chunks[ref]} (stored 2026-01-01; trust: {tier.label})"
        return Delivered(part, ref, rank, line, score, tier, Verdict.CONFIRMED, "notes/project.md")


def words(items: list[Delivered]) -> list[str]:
    return [item.words for item in items]


def legacy_rows(rows: int) -> Iterator[tuple[str, str, str, str, str, int]]:
    chance = random.Random(1)
    for n in range(rows):
        session = f"chat-{n // 20}"
        told = json.dumps([f"chat-{max(0, n // 20 - back)}" for back in (1, 2, 3)])
        hits = json.dumps([chance.randrange(10, CHUNKS) for _ in range(5)])
        yield (START + timedelta(seconds=n)).isoformat(), session, told, "[1, 2]", hits, 400


def use(name: str) -> Path:
    path = Path(HOME.name) / f"{name}.db"
    connections[INJECTIONS].close()
    connections.settings[INJECTIONS]["NAME"] = str(path)
    open_log()
    return path


def fill(rows: int) -> None:
    sql = """INSERT INTO injections (ts, session_id, digest_session_ids, hot_chunk_ids, rag_chunk_ids,
        approx_tokens) VALUES (?, ?, ?, ?, ?, ?)"""
    with write_transaction(INJECTIONS):
        execute_each(INJECTIONS, sql, legacy_rows(rows))
    began = perf_counter()
    while index.catch_up(100_000):
        pass
    print(f"indexed {rows:,} rows of another program in {perf_counter() - began:.0f} s\n", flush=True)


def recorder(conversations: Conversations) -> Callable[[], int]:
    numbers = count()

    def one() -> int:
        number = next(numbers)
        return record(
            conversations.turn(number),
            session_id=f"chat-{number // 20}",
            turn_id=f"t-{number}",
            key="agent",
            model="small",
            window=128_000,
            query=f"what do we know about number {number}?",
            now=START + timedelta(days=200, minutes=number),
        )

    return one


def timed(call: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    timings = []
    for _ in range(rounds):
        began = perf_counter()
        call()
        timings.append((perf_counter() - began) * 1000)
    return timings


def report(rows: int, what: str, timings: list[float]) -> None:
    p95 = quantiles(timings, n=20)[-1]
    print(f"| {rows:>9,} | {what:<44} | {median(timings):>9.2f} | {p95:>7.2f} |", flush=True)


def measure(rows: int) -> None:
    use(f"log-{rows}")
    fill(rows)
    print("| rows      | what                                         | median ms |  p95 ms |")
    print("|----------:|:---------------------------------------------|----------:|--------:|")
    conversations = Conversations()
    composing = timed(lambda: conversations.turn(5))
    report(rows, "(composing the turn to be recorded)", composing)
    write = recorder(conversations)
    report(rows, "record a turn, with composing it", timed(write))
    report(rows, "record a turn with 500 playbooks", timed(recorder(Conversations(500))))
    chance = random.Random(3)
    some = [chance.randrange(10, CHUNKS) for _ in range(ROUNDS)]
    refs, counted, sessions = iter(some), iter(some), iter(some)
    middle = START + timedelta(seconds=rows // 2)
    everything = TurnQuery()
    last = queries.turns(everything, limit=1).items[0].id
    questions: dict[str, Callable[[], object]] = {
        "newest 50 turns": lambda: queries.turns(everything),
        "50 turns up to a moment in the middle": lambda: queries.turns(TurnQuery(until=middle)),
        "turns of a session": lambda: queries.turns(TurnQuery(session_id=f"chat-{next(sessions)}")),
        "turns that a chunk entered": lambda: queries.turns(TurnQuery(ref=next(refs))),
        "turns that an always-on chunk entered": lambda: queries.turns(TurnQuery(ref=1)),
        "the same in one session": lambda: queries.turns(TurnQuery(ref=1, session_id="chat-77")),
        "count the turns of a chunk": lambda: queries.count_of(next(counted)),
        "count the turns of an always-on chunk": lambda: queries.count_of(1),
        "a turn with its words": lambda: queries.turn(last),
        "its text, checked": lambda: queries.text_of(last),
        "the answer of a retry": lambda: queries.stored_answer("agent", "t-50"),
        "what a session had read before": lambda: queries.read_before("chat-77", middle),
    }
    for what, call in questions.items():
        report(rows, what, timed(call))


def room() -> None:
    """Say how many bytes a turn takes, with all that is kept of it."""
    path = use("room")
    write = recorder(Conversations())
    empty = path.stat().st_size
    for _ in range(RECORDED):
        write()
    fetch(INJECTIONS, "PRAGMA wal_checkpoint(TRUNCATE)")
    bytes_each = (path.stat().st_size - empty) / RECORDED
    chars = len(Conversations().turn(1).text)
    print(f"\na turn of {chars:,} characters takes {bytes_each:,.0f} bytes on disk")
    for turns_a_day in (100, 1_000):
        print(f"{turns_a_day:,} turns a day for a year: {bytes_each * turns_a_day * 365 / 1e6:,.0f} MB")


if __name__ == "__main__":
    for size in map(int, sys.argv[1:] or ("100000", "1000000")):
        measure(size)
    room()
