"""Time of composing one projection, of escaping one text and of reading a projection back.

    python -m benchmarks.bench_projection

The candidates are those of a busy instance: 10 sessions, 100 always-on rows, 15 hits of which 5 enter, and 500
playbooks. *New* is the first turn that meets these texts, *again* any later one.
"""

from collections.abc import Callable
from statistics import median, quantiles
from time import perf_counter

from knowledge.types import TrustTier, Verdict
from memory.envelope import escape, render
from memory.envelope.parse import parse
from memory.projection import project
from memory.types import (
    Candidates,
    Goal,
    MemoryCandidate,
    Options,
    PlaybookCandidate,
    SessionCandidate,
    Task,
    WorkingState,
)

ROUNDS = 200
OPTIONS = Options(window=128_000)
WORDS = (
    "the gateway runs scheduled tasks nightly and reports (see below) to team-a: 3 of 4 nodes < 80 % load "
)


def memory(ref: int, chars: int) -> MemoryCandidate:
    text = f"{ref} {WORDS * (chars // len(WORDS) + 1)}"[:chars]
    return MemoryCandidate(
        ref, f"topic {ref}", text, "fact", "2026-03-02", TrustTier.AGENT, Verdict.PENDING, None
    )


def candidates() -> Candidates:
    return Candidates(
        sessions=[
            SessionCandidate(f"chat-{n:04}", "2026-04-01T09:00:00+00:00", "chat", WORDS[:80], n)
            for n in range(10)
        ],
        always_on=[memory(ref, 45) for ref in range(100)],
        hits=[memory(ref, 1_200) for ref in range(100, 115)],
        playbooks=[PlaybookCandidate(f"playbook-{n}", f"{n}: {WORDS}", f"p{n}") for n in range(500)],
        working_state=WorkingState(
            Goal("active", 2, 10, WORDS, WORDS * 5),
            [Task(f"t-{n}", "open", "high", WORDS, "chat-0001") for n in range(12)],
        ),
    )


def forget() -> None:
    escape.forget()
    render.playbook_line.cache_clear()


def measure(name: str, call: Callable[[], object], before: Callable[[], None] | None = None) -> None:
    times = []
    for _ in range(ROUNDS):
        if before:
            before()
        started = perf_counter()
        call()
        times.append((perf_counter() - started) * 1_000)
    print(f"{name:<44}{median(times):>9.3f} ms median{quantiles(times, n=20)[-1]:>9.3f} ms 95th percentile")


def main() -> None:
    many = candidates()
    text = project(many, OPTIONS).text
    print(f"A projection of {len(text):,} characters")
    measure("project, texts met again", lambda: project(many, OPTIONS))
    measure("project, texts all new", lambda: project(many, OPTIONS), forget)
    measure("parse, texts met again", lambda: parse(text))
    plain, chinese = (WORDS * 10)[:1_000], "每次发布前先运行冒烟测试。" * 77
    measure("escape 1,000 characters of English, new", lambda: escape.escape(plain), forget)
    measure("escape 1,000 characters of Chinese, new", lambda: escape.escape(chinese), forget)


if __name__ == "__main__":
    main()
