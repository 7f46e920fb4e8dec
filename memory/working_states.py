"""What an agent last told of its goal, tasks, watches and schedules."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.utils import timezone

from knowledge.errors import Invalid
from memory.models import Thread
from memory.types import Goal, Schedule, Task, Watch, WorkingState
from protoconsole.actors import Actor
from protoconsole.databases import CONSOLE, fetch, write_transaction
from protoconsole.session_ids import ALLOWED, is_session_id

_TOLD = "SELECT working_state FROM memory_thread WHERE session_id = ?"


def put_working_state(session_id: str, state: WorkingState, by: Actor) -> None:
    """Keep an agent's working state in the place of the one before; raise Invalid for a bad session id."""
    if not is_session_id(session_id):
        raise Invalid("session_id", f"must be {ALLOWED}")
    with write_transaction(CONSOLE):
        Thread.objects.update_or_create(
            session_id=session_id,
            defaults={"working_state": asdict(state), "updated_at": timezone.now()},
            create_defaults={"working_state": asdict(state), "by": by.name},
        )


def working_state_of(session_id: str) -> WorkingState:
    """Return what an agent last told, the empty state where it told nothing."""
    rows = fetch(CONSOLE, _TOLD, (session_id,))  # on every turn's path, where the ORM takes its time
    told = json.loads(rows[0][0]) if rows and rows[0][0] else None
    return _read(told) if told else WorkingState()


def _read(told: Mapping[str, Any]) -> WorkingState:
    return WorkingState(
        goal=Goal(**told["goal"]) if told["goal"] else None,
        tasks=tuple(Task(**task) for task in told["tasks"]),
        watches=tuple(Watch(**watch) for watch in told["watches"]),
        schedules=tuple(Schedule(**schedule) for schedule in told["schedules"]),
    )
