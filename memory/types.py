"""The values that cross the borders of this app. No Django, no clock, no file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from knowledge.types import TrustTier, Verdict

Ref = int | str  # a chunk of the own store by number, one of the commons as "commons:<id>"


class Part(StrEnum):
    """The parts of a projection by the labels that answers use."""

    WORKING_STATE = "working_state"
    ALWAYS_ON = "always_on"
    AVAILABLE_SKILLS = "available_skills"
    PRIOR_SESSIONS = "prior_sessions"
    HITS = "hits"


class Reason(StrEnum):
    """Why a candidate did not enter a prompt."""

    BUDGET = "budget"
    CAP = "cap"  # the limit of its own part: 100 rows, 6,000 characters, max_sessions, max_tokens, top_k
    TRUST_FLOOR = "trust_floor"
    DUPLICATE = "duplicate"  # stands among the always-on rows already
    REJECTED = "rejected"
    EXPIRED = "expired"
    INVALIDATED = "invalidated"
    ON_DEMAND = "on_demand"
    NAMESPACE = "namespace"
    EMPTY = "empty"  # nothing was left of it without its leaked reasoning
    INCOGNITO = "incognito"
    GOAL_TURN = "goal_turn"
    MEMORY_OFF = "memory_off"


@dataclass(frozen=True, slots=True)
class MemoryCandidate:
    """A chunk that may enter the prompt. `stored` is the date YYYY-MM-DD; `score` None for always-on rows."""

    ref: Ref
    heading: str | None
    content: str
    domain: str
    stored: str
    tier: TrustTier
    verdict: Verdict
    source: str | None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class SessionCandidate:
    """A prior session. `topic` is the first user message, already stripped and cut to 80 characters."""

    session_id: str
    timestamp: str
    surface: str
    topic: str
    messages: int


@dataclass(frozen=True, slots=True)
class PlaybookCandidate:
    """A playbook that the agent can load by name; `slash` is '' where it has no command."""

    name: str
    description: str
    slash: str = ""


@dataclass(frozen=True, slots=True)
class Goal:
    status: str
    iteration: int
    max_iterations: int
    condition: str
    plan: str


@dataclass(frozen=True, slots=True)
class Task:
    id: str
    status: str
    priority: str
    title: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Watch:
    id: str
    status: str
    title: str


@dataclass(frozen=True, slots=True)
class Schedule:
    id: str
    next: str
    prompt: str


@dataclass(frozen=True, slots=True)
class WorkingState:
    """The agent's own live commitments, as it last told them."""

    goal: Goal | None = None
    tasks: Sequence[Task] = ()
    watches: Sequence[Watch] = ()
    schedules: Sequence[Schedule] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A candidate that did not enter, and why."""

    part: Part
    ref: Ref
    reason: Reason


@dataclass(frozen=True, slots=True)
class Candidates:
    """Everything that could enter one prompt, each part in its order of delivery.

    `refused` are rows that a read had in hand and may never deliver (rejected, expired, another namespace).
    """

    sessions: Sequence[SessionCandidate] = ()
    always_on: Sequence[MemoryCandidate] = ()
    hits: Sequence[MemoryCandidate] = ()
    playbooks: Sequence[PlaybookCandidate] = ()
    working_state: WorkingState = field(default_factory=WorkingState)
    refused: Sequence[LeftOut] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """What decides how candidates become a text (SPEC 8 and 12). `window` is in tokens, None when unknown."""

    window: int | None = None
    budget_pct: float = 8.0
    max_sessions: int = 10
    max_session_tokens: int = 2000
    top_k: int = 5
    preview_chars: int = 1000
    min_trust: TrustTier = TrustTier.EXTERNAL
    skills_top_k: int = 24
    incognito: bool = False
    goal_turn: bool = False
    memory_on: bool = True


@dataclass(frozen=True, slots=True)
class Delivered:
    """One entry of a projection: which row, at which rank from 1, in which words as the model reads them."""

    part: Part
    ref: Ref
    rank: int
    words: str
    score: float | None = None
    tier: TrustTier | None = None
    verdict: Verdict | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    label: Part
    chars: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class Shed:
    """What a part gave up to the budget."""

    label: Part
    dropped_items: int
    dropped_chars: int


@dataclass(frozen=True, slots=True)
class Budget:
    """Characters. No ceiling means unbounded."""

    ceiling_chars: int | None
    used_chars: int
    overflow: Sequence[Shed] = ()


@dataclass(frozen=True, slots=True)
class Projection:
    """The text for one turn, what stands in it and what was left out."""

    text: str
    sections: Sequence[Section]
    delivered: Sequence[Delivered]
    left_out: Sequence[LeftOut]
    sources: Sequence[str]
    budget: Budget
    stage_counts: Mapping[str, int]  # effective_top_k, retrieved, trust_filtered, final

    def ids(self, part: Part) -> list[Ref]:
        """The ids that a part delivered, in the order of the text."""
        return [item.ref for item in self.delivered if item.part is part]


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A turn that asks what it should know. `query` is the last user message, `window` is in tokens.

    `working_state` None means what the session told last; `record` False leaves no row in the log.
    """

    query: str
    session_id: str | None = None
    turn_id: str | None = None
    model: str | None = None
    window: int | None = None
    incognito: bool = False
    goal_turn: bool = False
    working_state: WorkingState | None = None
    record: bool = True


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Rows to be looked at as if an operator had ruled on them or pinned them.

    `replaced` are rows that proposals among the confirmed ones would supersede.
    """

    confirmed: frozenset[Ref] = frozenset()
    rejected: frozenset[Ref] = frozenset()
    pinned: frozenset[Ref] = frozenset()
    replaced: frozenset[Ref] = frozenset()


class DigestPolicy(StrEnum):
    """Which prior sessions a prompt names."""

    NEWEST = "newest"
    RELEVANT = "relevant"
    OFF = "off"


class Absence(StrEnum):
    """Why the digest does not name a session."""

    ACTIVE = "active"
    BEYOND = "beyond_max_sessions"
    NO_ROOM = "beyond_max_tokens"
    BACKGROUND = "background"
    UNREADABLE = "unreadable"
    OFF = "policy_off"
    WHEN_RELEVANT = "only_when_relevant"  # the policy names it where the words of a turn find it


class NoSummary(StrEnum):
    """Why a turn wrote no summary."""

    NO_SESSION = "no_session"
    INCOGNITO = "incognito"
    BACKGROUND = "background"
    DISABLED = "disabled"  # PROTOAGENT_DISABLE_MEMORY
    MEMORY_OFF = "memory_off"  # middleware.memory: false
    NOT_TERMINAL = "not_terminal"
    EMPTY = "empty"
    NOT_WRITTEN = "not_written"  # the file was refused, or the disk refused it


@dataclass(frozen=True, slots=True)
class SpokenMessage:
    """What a user or an assistant said."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool; `args` is JSON, `duration_ms` 0 where nobody measured."""

    name: str
    args: object
    result: str
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Summary:
    """A session as its file holds it, without leaked reasoning and credentials.

    `timestamp` is ISO 8601 text, `surface` what the caller told or None, `tool_calls_total` how many calls
    there were when that is more than are listed.
    """

    session_id: str
    trace_id: str | None
    messages: Sequence[SpokenMessage]
    tool_calls: Sequence[ToolCall]
    tool_calls_total: int | None
    final_output: str
    timestamp: str
    surface: str | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A summary file that tells nothing, and why."""

    session_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A session that a search found, with the words around the match."""

    session: SessionCandidate
    preview: str  # at most 300 characters; matches between MARK_OPEN and MARK_CLOSE


@dataclass(frozen=True, slots=True)
class TurnsKept:
    """What became of posted turns: how many messages are new, and whether the summary was written.

    `detail` is a sentence about the reason where there is more to say.
    """

    stored: int
    summary_written: bool
    reason: NoSummary | None = None
    detail: str = ""
