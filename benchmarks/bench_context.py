"""Times of a turn's `POST /api/context`, in process and over HTTP, beside the straightforward way.

    python -m benchmarks.bench_context 10000 100000 --summaries 1000 --playbooks 500

The log is written in every turn. The straightforward way is what a first version would do: a connection for
each call, `ORDER BY rank` over all words of the question joined by OR, every summary file parsed, every
playbook read, and no log.
"""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import yaml

from benchmarks.bench_store import HOME, Timings, build, timed  # isort: skip - sets Django up

from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from benchmarks.synthetic import Synthesis
from knowledge import queries
from knowledge.times import to_iso
from knowledge.types import ChunkQuery
from memory import delivery, digest, gathering, session_index
from memory.injections.adoption import open_log
from memory.projection import project
from memory.types import TurnRequest
from protoconsole.access.keys import create_key
from protoconsole.actors import MAINTENANCE, Actor, Role, Surface
from protoconsole.databases import CONSOLE, INJECTIONS
from protoconsole.instance import current

AGENT = Actor("bench", Role.AGENT, Surface.API, session_id="chat-bench")
ROUNDS = 100
TOP_K = 5
CHECKOUT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int, default=[10_000, 100_000])
    parser.add_argument("--summaries", type=int, default=1_000)
    parser.add_argument("--playbooks", type=int, default=500)
    asked = parser.parse_args()
    call_command("migrate", database=CONSOLE, verbosity=0)
    write_summaries(asked.summaries)
    write_playbooks(asked.playbooks)
    print("| rows | what | median ms | p95 ms |\n|---:|---|---:|---:|")
    for size in asked.sizes:
        measure(size)


def write_summaries(count: int) -> None:
    """Write summary files as the agent's own program does, of about 4 kB each."""
    words = Synthesis(4)
    folder = current().paths.memory_dir
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(count):
        messages = [{"role": role, "content": words.text(60)} for role in ("user", "assistant") * 4]
        moment = f"2026-{n % 12 + 1:02}-{n % 28 + 1:02}T10:00:00+00:00"
        summary = {"session_id": f"chat-{n}", "messages": messages, "tool_calls": [], "timestamp": moment}
        (folder / f"chat-{n}.json").write_text(json.dumps(summary), "utf-8")
    session_index.deep_sync()


def write_playbooks(count: int) -> None:
    words = Synthesis(5)
    for n in range(count):
        folder = current().paths.skills_dir / f"playbook-{n}"
        folder.mkdir(parents=True)
        text = f"---\nname: playbook-{n}\ndescription: {words.text(20)}\n---\n\n{words.text(200)}\n"
        (folder / "SKILL.md").write_text(text, "utf-8")


def measure(size: int) -> None:
    plain = build(size)
    connections[INJECTIONS].close()
    current().paths.injection_log.unlink(missing_ok=True)
    open_log()
    turns = [
        TurnRequest(question, "chat-bench", f"{size}/{n}")
        for n, question in enumerate(Synthesis(2).questions(ROUNDS * 4))
    ]
    report(size, "a turn, in process", timed(each(turns, lambda turn: delivery.deliver(turn, AGENT)), ROUNDS))
    with served(size) as client:
        report(
            size, "a turn, over HTTP", timed(each(turns[ROUNDS:], lambda turn: post(client, turn)), ROUNDS)
        )
    report(size, "the straightforward way", timed(each(turns, lambda turn: plainly(plain, turn)), 20))
    for name, call in stages().items():
        report(size, f"of a turn: {name}", timed(each(turns, call), ROUNDS))


def each(turns: list[TurnRequest], call: Callable[[TurnRequest], object]) -> Callable[[], object]:
    """Make a call that takes the next turn each time, after one turn to warm up."""
    waiting = iter(turns)
    call(next(waiting))
    return lambda: call(next(waiting))


def stages() -> dict[str, Callable[[TurnRequest], object]]:
    """Name the parts of a turn that can be timed alone."""
    options = gathering.options_of(TurnRequest(""))
    gathered = gathering.gather(TurnRequest("what is it", "chat-bench"), options)
    first = gathering.ALWAYS_ON_AT_FIRST + gathering.REFUSED_SHOWN
    always_on = ChunkQuery(policies=(gathering.Policy.ALWAYS,), states=gathering.IN_HAND)
    return {
        "gather everything": lambda turn: gathering.gather(turn, options),
        "gather: ranked search": lambda turn: queries.ranked(
            ChunkQuery(text=turn.query, states=gathering.IN_HAND),
            MAINTENANCE,
            k=TOP_K + gathering.REFUSED_SHOWN,
        ),
        "gather: always-on rows": lambda turn: queries.browse(always_on, MAINTENANCE, limit=first),
        "gather: prior sessions": lambda turn: digest.candidates("newest", "x", turn.query, max_sessions=10),
        "compose the text": lambda turn: project(gathered, options),
        "all but the log": delivery.preview,
    }


@contextmanager
def served(size: int) -> Iterator[httpx.Client]:
    """Serve the instance in a process of its own."""
    key = create_key(f"bench-{size}", Role.AGENT, created_by="bench")[1]
    env = os.environ | {
        "KNOWLEDGE_DB_PATH": str(connections["knowledge"].settings_dict["NAME"]),
        "DJANGO_SETTINGS_MODULE": "protoconsole.settings",
    }
    command = [sys.executable, str(CHECKOUT / "manage.py"), "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        url = next(word for line in lines for word in line.split() if word.startswith("http://"))
        with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=60) as client:
            yield client
        process.terminate()


def post(client: httpx.Client, turn: TurnRequest) -> None:
    body = {"query": turn.query, "session_id": f"http-{turn.session_id}", "turn_id": turn.turn_id}
    client.post("api/context", json=body).raise_for_status()


def plainly(plain: Path, turn: TurnRequest) -> str:
    words = " OR ".join(f'"{word}"' for word in turn.query.split())
    with closing(sqlite3.connect(plain)) as store:
        hits = store.execute(
            "SELECT c.* FROM fts JOIN chunks c ON c.id = fts.rowid WHERE fts MATCH ? ORDER BY rank LIMIT ?",
            (words, TOP_K),
        ).fetchall()
        hot = store.execute("SELECT * FROM chunks WHERE domain = 'hot' ORDER BY created_at DESC LIMIT 100")
        rows = [*hot.fetchall(), *hits]
    files = current().paths.memory_dir.glob("*.json")
    sessions = sorted((json.loads(file.read_text("utf-8")) for file in files), key=lambda s: s["timestamp"])
    skills = [
        yaml.safe_load(file.read_text("utf-8").split("---")[1])
        for file in current().paths.skills_dir.glob("*/SKILL.md")
    ]
    lines = (
        [str(row) for row in rows] + [s["session_id"] for s in sessions[-10:]] + [s["name"] for s in skills]
    )
    return "\n".join([to_iso(timezone.now()), *lines])


def report(size: int, what: str, timings: Timings) -> None:
    ordered = sorted(timings)
    middle, late = (ordered[int(len(ordered) * share)] for share in (0.5, 0.95))
    print(f"| {size:,} | {what} | {middle:.2f} | {late:.2f} |", flush=True)


if __name__ == "__main__":
    with HOME:
        main()
