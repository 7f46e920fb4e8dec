"""How many requests a second each way of serving Django answers: `python -m benchmarks.bench_servers`.

Every server gets a copy of the same instance of 10,000 rows and is driven from a second process by as many
clients as stand in the table: nine searches to one write. Servers that are not installed are left out; a
folder of packages to look in may be named: `--packages FOLDER`.
"""

import argparse
import json
import os
import random
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx

CHECKOUT = Path(__file__).resolve().parent.parent
ROWS = 10_000
SECONDS = 4.0
SHAPES = ((1, 1), (4, 4), (8, 8), (1, 8), (2, 8), (4, 8))  # threads of the server, clients
TOPICS = ("release", "backup", "invoice", "customer", "weather", "budget", "branch", "kitchen", "printer")
WORDS = [f"{topic}{number}" for topic in TOPICS for number in range(200)]  # a word is in some 200 rows

PYTHON = [sys.executable]
SERVERS = {
    "uvicorn + a2wsgi": ["manage.py", "serve", "--port={port}", "--threads={threads}"],
    "uvicorn + Django's ASGI": [
        *("-m", "uvicorn", "--port={port}", "--log-level=warning", "--no-access-log"),
        *("--factory", "django.core.asgi:get_asgi_application"),
    ],
    "waitress": [
        *("-m", "waitress", "--listen=127.0.0.1:{port}", "--threads={threads}"),
        "protoconsole.wsgi:application",
    ],
    "gunicorn gthread": [
        *("-m", "gunicorn", "--bind=127.0.0.1:{port}", "--threads={threads}", "--worker-class=gthread"),
        *("--log-level=error", "--keep-alive=30", "protoconsole.wsgi:application"),
    ],
}
TAKES_THREADS = {name: any("threads" in part for part in command) for name, command in SERVERS.items()}
NEEDS = {"waitress": "waitress", "gunicorn gthread": "gunicorn"}


def main() -> None:
    options = arguments()
    if options.drive:
        drive(*options.drive)
        return
    if options.packages:
        sys.path.append(options.packages)
        os.environ["PYTHONPATH"] = options.packages
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "template"
        key = make_instance(template)
        print("| server | threads | clients | requests/s | median ms | p95 ms |\n|---|--:|--:|--:|--:|--:|")
        for name, threads, clients in cases():
            with serving(name, threads, template) as url:
                took = driven(url, key, clients)
            shown = threads if TAKES_THREADS[name] else "-"
            print(f"| {name} | {shown} | {clients} | {row(took)} |", flush=True)


def cases() -> Iterator[tuple[str, int, int]]:
    for name in SERVERS:
        if name in NEEDS and find_spec(NEEDS[name]) is None:
            print(f"{name}: not installed", file=sys.stderr)
            continue
        for threads, clients in SHAPES if TAKES_THREADS[name] else SHAPES[:3]:
            yield name, threads, clients


def row(took: Sequence[float]) -> str:
    ordered = sorted(took)
    median, p95 = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    return f"{len(ordered) / SECONDS:.0f} | {median * 1000:.1f} | {p95 * 1000:.1f}"


def make_instance(root: Path) -> str:
    """Make an instance with rows of the agent's own program, opened and indexed, and return a key."""
    (root / "knowledge").mkdir(parents=True)
    chance = random.Random(1)
    now = "2026-06-01T00:00:00+00:00"
    rows = ((" ".join(chance.choices(WORDS, k=40)), now, now) for _ in range(ROWS))
    with closing(sqlite3.connect(root / "knowledge" / "agent.db")) as store, store:
        store.execute(
            "CREATE TABLE chunks (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL,"
            " domain TEXT NOT NULL DEFAULT 'general', created_at TEXT NOT NULL, updated_at TEXT NOT NULL)"
        )
        store.executemany("INSERT INTO chunks (content, created_at, updated_at) VALUES (?, ?, ?)", rows)
    with started([*PYTHON, "manage.py", "serve", "--port", str(port := free_port())], root, port):
        pass
    command = [*PYTHON, "manage.py", "apikey", "create", "bench", "--role", "operator"]
    made = subprocess.run(command, cwd=CHECKOUT, env=environment(root), check=True, capture_output=True)
    return made.stdout.decode().strip()


@contextmanager
def serving(name: str, threads: int, template: Path) -> Iterator[str]:
    """Run one server over a copy of the instance."""
    port = free_port()
    command = [part.format(port=port, threads=threads) for part in SERVERS[name]]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "instance"
        shutil.copytree(template, root)
        with started([*PYTHON, *command], root, port) as url:
            yield url


@contextmanager
def started(command: Sequence[str], root: Path, port: int) -> Iterator[str]:
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        command,
        cwd=CHECKOUT,
        env=environment(root),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not answers(url):
            if process.poll() is not None:
                sys.exit(f"ended before it answered: {' '.join(command)}")
        yield url
    finally:
        process.terminate()
        process.wait()


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", timeout=30).is_success
    except httpx.TransportError:
        time.sleep(0.1)
        return False


def environment(root: Path) -> dict[str, str]:
    ours = {"PROTOAGENT_HOME": str(root), "DJANGO_SETTINGS_MODULE": "protoconsole.settings"}
    return {**os.environ, **ours, "PROTOCONSOLE_PLAIN_STATIC": "1"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def driven(url: str, key: str, clients: int) -> list[float]:
    """Drive a server from a second process and return the seconds that each request took."""
    command = [*PYTHON, __file__, "--drive", url, key, str(clients)]
    done = subprocess.run(command, check=True, capture_output=True, env=os.environ)
    return list(json.loads(done.stdout))


def drive(url: str, key: str, clients: str) -> None:
    """Send requests for a while from several threads, after one second that does not count."""
    took: list[float] = []
    begin = time.monotonic() + 1.0
    threads = [
        threading.Thread(target=one_client, args=(url, key, seed, begin, took))
        for seed in range(int(clients))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(took))


def one_client(url: str, key: str, seed: int, begin: float, took: list[float]) -> None:
    chance = random.Random(seed)
    with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=60) as client:
        while (sent := time.monotonic()) < begin + SECONDS:
            one_request(client, chance)
            if sent >= begin:
                took.append(time.monotonic() - sent)


def one_request(client: httpx.Client, chance: random.Random) -> None:
    text = " ".join(chance.choices(WORDS, k=3))
    if chance.random() < 0.1:
        client.post("/api/knowledge/chunks", json={"content": text}).raise_for_status()
    else:
        client.get("/api/knowledge/search", params={"q": text, "k": "5"}).raise_for_status()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", help="a folder with further servers, as of pip install --target")
    parser.add_argument("--drive", nargs=3, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
