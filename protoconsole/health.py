"""Whether the console lives, is ready, is well, and what it has done."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from django.db import DatabaseError, connections
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Router, Status

from knowledge import adoption, catch_up, playbooks
from knowledge.search import fts5
from knowledge.stats import stats
from knowledge.times import to_iso
from memory import turn_faults
from protoconsole import maintenance
from protoconsole.actors import MAINTENANCE
from protoconsole.config import Config
from protoconsole.databases import CONSOLE, KNOWLEDGE, fetch
from protoconsole.instance import current
from protoconsole.metrics import TEXT_TYPE, exposition
from protoconsole.version import VERSION
from protoconsole.wire import GOVERNORS, Out, Problem, door

PATIENCE_S = 0.2
REUSED_S = 1.0  # how long a probe that anybody may ask for stands for the next
_LOCKED = ("locked", "busy")
_STARTED = time.monotonic()

T = TypeVar("T")

open_router = Router(tags=["health"])
runtime_router = Router(tags=["health"])


class Alive(Out):
    status: Literal["ok"] = "ok"


class IndexOut(Out):
    pending: int


class Ready(Out):
    status: Literal["ready"] = "ready"
    index: IndexOut


class Unready(Problem):
    reasons: list[str]


class StoreOut(Out):
    name: str
    path: str
    bytes: int
    usable: bool


class EmbeddingsOut(Out):
    model: str | None
    pending: int
    breaker: Literal["closed", "open"]


class GatewayOut(Out):
    """What is configured; nothing is asked over the network to say this."""

    configured: bool
    address: str | None
    model: str | None


class HarvestOut(Out):
    due: int
    failed: int


class RuntimeOut(Out):
    status: Literal["ok", "degraded"]
    reasons: list[str]
    version: str
    stores: list[StoreOut]
    index: IndexOut
    embeddings: EmbeddingsOut
    gateway: GatewayOut
    harvest: HarvestOut
    uptime_s: float


@open_router.get("/healthz", response={200: Alive})
def healthz(request: HttpRequest) -> Alive:
    """Say that the process answers; nothing else is looked at."""
    return Alive()


@open_router.get("/readyz", response={200: Ready, 503: Unready})
def readyz(request: HttpRequest) -> Ready | Status[Unready]:
    """Say whether every store can be read and written and the search index stands."""
    reasons = [fault.public for fault in _faults_lately(int(time.monotonic() / REUSED_S), _paths())]
    if reasons:
        return Status(503, Unready(code="not_ready", detail="; ".join(reasons), reasons=reasons))
    return Ready(index=_index())


@open_router.get("/metrics", **door(*GOVERNORS, answers={200: None}))
def metrics(request: HttpRequest) -> HttpResponse:
    """Give all counts in the text format of Prometheus."""
    known = _read(lambda: stats(MAINTENANCE))
    by_state = {count.value: count.n for count in known.state} if known else {}
    return HttpResponse(exposition(by_state, _read(catch_up.pending)), content_type=TEXT_TYPE)


@runtime_router.get("/status", **door(*GOVERNORS, answers={200: RuntimeOut}))
def runtime_status(request: HttpRequest) -> RuntimeOut:
    """Say how the console is doing, and every reason why it is not quite well."""
    config = current().config
    reasons = [*(fault.detail for fault in faults()), *degraded_reasons(config)]
    return RuntimeOut(
        status="degraded" if reasons else "ok",
        reasons=reasons,
        version=VERSION,
        stores=[_store(alias) for alias in connections],
        index=_index(),
        embeddings=_embeddings(config),
        gateway=_gateway(config),
        harvest=HarvestOut(due=0, failed=0),  # no thread is kept yet that could retire
        uptime_s=round(time.monotonic() - _STARTED, 3),
    )


@dataclass(frozen=True, slots=True)
class Fault:
    """Why requests cannot be served: in full, and in what anybody may be told, which names no path."""

    public: str
    detail: str


def faults() -> Iterator[Fault]:
    """Find the stores that cannot be used, and an index that does not stand."""
    broken = {alias: fault_of_store(_path_of(alias)) for alias in connections}
    for alias, fault in broken.items():
        if fault:
            yield Fault(f"{alias}: its store cannot be used", f"{alias}: {fault}")
    if broken[KNOWLEDGE] is None:
        yield from _index_faults()


@lru_cache(maxsize=1)
def _faults_lately(moment: int, paths: tuple[Path, ...]) -> Sequence[Fault]:
    """Find the faults once for all who ask in the same moment, since each probe takes the write locks."""
    return tuple(faults())


def degraded_reasons(config: Config) -> Iterator[str]:
    """Say what works less well than it could."""
    older_program = _read(adoption.older_program_warning)
    if older_program:
        yield older_program
    if config.knowledge.embeddings:
        yield "knowledge.embeddings is on, but this release ranks by keywords only"
    yield from config.warnings
    yield from turn_faults.reasons()
    if config.skills.enabled:
        yield from playbooks.for_agents(current().paths.skills_db, current().paths.skills_dir).faults
    for step in maintenance.report():
        if step.failing:
            yield f"the maintenance step {step.name} failed at {step.last_error_at}: {step.last_error}"
    silent_since = maintenance.silent_since(timezone.now())
    if silent_since:
        yield f"the maintenance work has stood still since {to_iso(silent_since)}; look into the server's log"


def fault_of_store(path: Path) -> str | None:
    """Try to read and to begin a write, on a connection of its own that waits for nobody for long.

    A lock that another holds proves a store that can be written.
    """
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=PATIENCE_S)
        ) as store:
            store.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            store.execute("BEGIN IMMEDIATE")
            store.execute("ROLLBACK")
    except sqlite3.Error as error:
        return None if any(word in str(error) for word in _LOCKED) else f"{path} cannot be used: {error}"
    return None


def _index_faults() -> Iterator[Fault]:
    mend = "run: manage.py doctor --repair"
    try:
        standing = adoption.is_adopted() and adoption.is_derived_current()
        if standing and fts5.available():
            fetch(KNOWLEDGE, "SELECT rowid FROM pc_search LIMIT 1")
        catch_up.pending()
        stats(MAINTENANCE)
    except DatabaseError as error:
        fault = "what is derived from its rows cannot be read"
        yield Fault(f"{fault}; {mend}", f"{fault} ({error}); {mend}")
    else:
        if not standing:
            fault = f"its tables, triggers or index are not those of this release; {mend}"
            yield Fault(fault, fault)


def _read(read: Callable[[], T]) -> T | None:
    """Read from the knowledge store; None where it cannot answer, which `faults` tells in words."""
    if not _path_of(KNOWLEDGE).exists():  # to ask would make an empty one
        return None
    try:
        return read()
    except DatabaseError:
        return None


def _index() -> IndexOut:
    return IndexOut(pending=_read(catch_up.pending) or 0)


def _paths() -> tuple[Path, ...]:
    return tuple(_path_of(alias) for alias in connections)


def _path_of(alias: str) -> Path:
    return Path(str(connections[alias].settings_dict["NAME"]))


def _store(alias: str) -> StoreOut:
    path = _path_of(alias)
    size = path.stat().st_size if path.exists() else 0
    name = "console" if alias == CONSOLE else alias
    return StoreOut(name=name, path=str(path), bytes=size, usable=fault_of_store(path) is None)


def _embeddings(config: Config) -> EmbeddingsOut:
    """No vector is asked for yet: where they are configured, the breaker stands open over all rows."""
    if not config.knowledge.embeddings:
        return EmbeddingsOut(model=None, pending=0, breaker="closed")
    known = _read(lambda: stats(MAINTENANCE))
    rows = known.total if known else 0
    return EmbeddingsOut(model=config.knowledge.embed_model, pending=rows, breaker="open")


def _gateway(config: Config) -> GatewayOut:
    """Name the gateway without what its address may hold of a password."""
    address = urlsplit(config.model.api_base)
    shown = address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()
    return GatewayOut(configured=bool(shown), address=shown or None, model=config.model.name or None)
