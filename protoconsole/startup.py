"""What a start does before the first request, and what it then says."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count

from django.conf import settings
from django.urls import get_script_prefix

from knowledge import playbooks
from knowledge.adoption import Opening, older_program_warning, open_store
from knowledge.preflight import refuse_unusable
from memory.injections import preflight as log_preflight
from memory.injections.adoption import LogOpening, open_log
from protoconsole.access.keys import create_key
from protoconsole.access.models import ApiKey, Operator
from protoconsole.access.operators import create_operator, issue_link
from protoconsole.access.setup import prepare_console
from protoconsole.actors import Role
from protoconsole.databases import CONSOLE, write_transaction
from protoconsole.errors import StoreUnusable
from protoconsole.instance import current
from protoconsole.static_files import collect_static

FIRST_OPERATOR = "operator"
FIRST_KEY = "agent"
CREATED_BY = "first start"


@dataclass(frozen=True, slots=True)
class WayIn:
    """What the first start gives away, once: the path of a link for the operator, a key for the agent."""

    operator: str
    link: str
    agent_key: str | None


@dataclass(frozen=True, slots=True)
class Start:
    opening: Opening
    log: LogOpening
    way_in: WayIn | None


def prepare(now: datetime) -> Start:
    """Make everything ready to serve; safe to repeat after any interruption.

    Raises StoreUnusable and ConfigError, before anything was touched, for an instance that cannot serve, and
    StoreBusy when another program does not let go of a store.
    """
    paths = current().paths
    refuse_unusable(paths.knowledge_db)
    log_preflight.refuse_unusable(paths.injection_log)
    playbooks.refuse_newer(paths.skills_db)
    _refuse_unwritable_root()
    prepare_console()
    str(settings.SECRET_KEY)  # made now, not by the first request
    collect_static()
    return Start(open_store(now), open_log(), _first_way_in())


def _refuse_unwritable_root() -> None:
    root = current().paths.instance_root
    if root.exists() and not (root.is_dir() and os.access(root, os.R_OK | os.W_OK | os.X_OK)):
        raise StoreUnusable(f"{root}: is not a folder that this user can write to; change its owner or mode")


def _first_way_in() -> WayIn | None:
    """Let the first operator and the first agent in; one transaction, so that two starts give one way in."""
    with write_transaction(CONSOLE):
        if Operator.objects.exists():
            return None
        operator = create_operator(_first_operator_name())
        link = issue_link(operator)
        if ApiKey.objects.exists():
            return WayIn(operator.username, link, None)
        _, key = create_key(FIRST_KEY, Role.AGENT, created_by=CREATED_BY)
        return WayIn(operator.username, link, key)


def _first_operator_name() -> str:
    """Choose a name that no key has: keys may be made before the first start."""
    taken = {name.casefold() for name in ApiKey.objects.values_list("name", flat=True)}
    names = chain([FIRST_OPERATOR], (f"{FIRST_OPERATOR}-{n}" for n in count(2)))
    return next(name for name in names if name not in taken)


def start_message(origin: str, start: Start) -> Iterator[str]:
    """Give the lines that tell the operator where the site is and what the start found and did."""
    paths, opening = current().paths, start.opening
    yield f"protoconsole is at {origin}{get_script_prefix()}"
    yield f"  instance   {paths.instance_root}"
    yield f"  knowledge  {opening.path}{' (new)' if opening.created else ''}"
    yield f"  console    {paths.console_db}"
    yield f"  injections {start.log.path}{' (new)' if start.log.created else ''}"
    for copy in filter(None, (opening.copy, start.log.copy)):
        yield f"  copy made before the first change: {copy}"
    if opening.index_pending:
        yield f"  {opening.index_pending} rows are still to be indexed; search finds them little by little"
    if start.log.index_pending:
        yield f"  {start.log.index_pending} rows of the injection log are still to be indexed"
    for warning in _warnings(start):
        yield f"  warning: {warning}"
    if start.way_in:
        yield from _way_in_lines(origin, start.way_in)


def _warnings(start: Start) -> Iterator[str]:
    yield from current().config.warnings
    if not (start.opening.wal and start.log.wal):
        yield (
            "another program kept a store from write-ahead logging, so readers and writers wait for each"
            " other; the next start tries again"
        )
    older_program = older_program_warning()
    if older_program:
        yield older_program


def _way_in_lines(origin: str, way_in: WayIn) -> Iterator[str]:
    yield "Shown once:"
    yield f"  sign in as {way_in.operator}, within a day: {origin}{way_in.link}"
    if way_in.agent_key:
        yield f"  key of the agent: {way_in.agent_key}"
