"""Write down an agent's own commitments, within their limits."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory.envelope.escape import cut, label
from memory.envelope.frames import SEPARATOR
from memory.envelope.render import spoken
from memory.types import Goal, LeftOut, Part, Reason, Schedule, Task, Watch, WorkingState

MOST_PLAN_CHARS = 1_500
MOST_TASKS = 12
MOST_WATCHES = 10
MOST_SCHEDULES = 10


class Commitment(NamedTuple):
    """One line of the working state and what it speaks of: `goal`, `plan`, or an id."""

    ref: str
    words: str


def commitments(state: WorkingState) -> list[Commitment]:
    """Return the lines in the order of the text: goal, plan, tasks, watches, schedules."""
    return [
        *(_goal(state.goal) if state.goal else ()),
        *map(_task, state.tasks[:MOST_TASKS]),
        *map(_watch, state.watches[:MOST_WATCHES]),
        *map(_schedule, state.schedules[:MOST_SCHEDULES]),
    ]


def beyond_limits(state: WorkingState) -> list[LeftOut]:
    """Return what the limits leave no line for."""
    rest: Sequence[Task | Watch | Schedule] = (
        *state.tasks[MOST_TASKS:],
        *state.watches[MOST_WATCHES:],
        *state.schedules[MOST_SCHEDULES:],
    )
    return [LeftOut(Part.WORKING_STATE, item.id, Reason.CAP) for item in rest]


def _goal(goal: Goal) -> Iterator[Commitment]:
    step = f"step {goal.iteration} of {goal.max_iterations}" if goal.max_iterations else ""
    yield Commitment("goal", _line("GOAL", (goal.status, step), _shortened(goal.condition)))
    if plan := _shortened(goal.plan):
        yield Commitment("plan", _line("PLAN", ("current",), plan))


def _task(task: Task) -> Commitment:
    labels = (task.id, task.status, task.priority, task.session_id)
    return Commitment(task.id, _line("TASK", labels, spoken(task.title)))


def _watch(watch: Watch) -> Commitment:
    return Commitment(watch.id, _line("WATCH", (watch.id, watch.status), spoken(watch.title)))


def _schedule(schedule: Schedule) -> Commitment:
    return Commitment(schedule.id, _line("SCHEDULE", (schedule.id, schedule.next), spoken(schedule.prompt)))


def _line(kind: str, labels: Sequence[str], text: str) -> str:
    return f"{kind} [{SEPARATOR.join(label(text) for text in labels if text)}] {text}"


def _shortened(text: str) -> str:
    return cut(spoken(text), MOST_PLAN_CHARS)
