"""The shapes in JSON of what turns are told and tell."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue
from pydantic_core import PydanticCustomError

from knowledge.schemas import MAX_ID_DIGITS, CleanText, LongText, Name, QueryText
from knowledge.types import Verdict
from memory.delivery import answer_of
from memory.injections.types import Item
from memory.models import MAX_MODEL_CHARS
from memory.surfaces import MAX_SURFACE_CHARS
from memory.threads import MAX_TRACE_ID_CHARS
from memory.turns import MAX_MESSAGE_ID_CHARS
from memory.types import (
    Delivered,
    Goal,
    LeftOut,
    NoSummary,
    Part,
    Projection,
    Reason,
    Ref,
    Schedule,
    Task,
    TurnRequest,
    Watch,
    WhatIf,
    WorkingState,
)
from protoconsole.session_ids import ALLOWED, is_session_id
from protoconsole.wire import In, Out

MOST_COMMITMENTS = 1_000
MOST_MESSAGES = 10_000
LARGEST_COUNT = 10**9
LARGEST_NUMBER = 10**18


def _session_id(value: str) -> str:
    if not is_session_id(value):
        raise PydanticCustomError("session_id", "{allowed}", {"allowed": f"send {ALLOWED}"})
    return value


SessionId = Annotated[
    str, AfterValidator(_session_id), Field(json_schema_extra={"pattern": "^[A-Za-z0-9._:-]{1,200}$"})
]
ModelName = Annotated[CleanText, Field(max_length=MAX_MODEL_CHARS)]
Tokens = Annotated[int, Field(ge=1, le=100_000_000, description="The model's window; beats what is known")]
Id = CleanText | Annotated[int, Field(strict=True, ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
Count = Annotated[int, Field(strict=True, ge=0, le=LARGEST_COUNT)]
Flag = Annotated[bool, Field(strict=True)]


class GoalBody(In):
    status: CleanText = ""
    iteration: Count = 0
    max_iterations: Count = 0
    condition: LongText = ""
    plan: LongText | None = None


class TaskBody(In):
    id: Id
    status: CleanText = ""
    priority: Id | None = None
    title: LongText = ""
    session_id: CleanText | None = None


class WatchBody(In):
    id: Id
    status: CleanText = ""
    title: LongText = ""


class ScheduleBody(In):
    id: Id
    next: CleanText | None = None
    prompt: LongText = ""


class WorkingStateBody(In):
    """The agent's own open commitments."""

    goal: GoalBody | None = None
    tasks: list[TaskBody] = Field(default=[], max_length=MOST_COMMITMENTS)
    watches: list[WatchBody] = Field(default=[], max_length=MOST_COMMITMENTS)
    schedules: list[ScheduleBody] = Field(default=[], max_length=MOST_COMMITMENTS)

    def value(self) -> WorkingState:
        return WorkingState(
            goal=Goal(**_texts(self.goal)) if self.goal else None,
            tasks=tuple(Task(**_texts(task)) for task in self.tasks),
            watches=tuple(Watch(**_texts(watch)) for watch in self.watches),
            schedules=tuple(Schedule(**_texts(schedule)) for schedule in self.schedules),
        )


def _texts(body: In) -> dict[str, Any]:
    """Give the fields of a commitment, '' for what is null; numbers stay only where counts are meant."""
    counts = {name for name in ("iteration", "max_iterations") if isinstance(body, GoalBody)}
    fields = body.model_dump()
    return {k: v if k in counts else str("" if v is None else v) for k, v in fields.items()}


class ContextIn(In):
    """A turn that asks what its model should know."""

    query: QueryText = Field(description="The last user message")
    session_id: SessionId | None = None
    turn_id: Name | None = Field(
        default=None, min_length=1, description="Makes a retry safe: the same one gives the same answer"
    )
    model: ModelName | None = None
    window: Annotated[Tokens, Field(strict=True)] | None = None
    incognito: Flag = False
    goal_turn: Flag = False
    working_state: WorkingStateBody | None = Field(default=None, description="Else what was last put")
    record: Flag = Field(default=True, description="false: no row in the log")

    def turn(self, session_id: str | None, *, incognito: bool) -> TurnRequest:
        return TurnRequest(
            query=self.query,
            session_id=session_id,
            turn_id=self.turn_id,
            model=self.model,
            window=self.window,
            incognito=incognito,
            goal_turn=self.goal_turn,
            working_state=self.working_state.value() if self.working_state else None,
            record=self.record,
        )


def _ref(value: object) -> object:
    """A number names a row of the own store, anything else one of the commons."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS else text


AnyRef = Annotated[int | CleanText, BeforeValidator(_ref)]


class PreviewParameters(In):
    query: QueryText = Field(default="", description="The last user message")
    session_id: SessionId | None = None
    model: ModelName | None = None
    window: Tokens | None = None
    incognito: bool = False
    goal_turn: bool = False
    confirmed: list[AnyRef] = Field(default=[], description="Rows to be taken as if confirmed; repeatable")
    rejected: list[AnyRef] = Field(default=[], description="Rows to be taken as if rejected; repeatable")
    pinned: list[AnyRef] = Field(default=[], description="Rows to be taken as if always-on; repeatable")

    def turn(self) -> TurnRequest:
        return TurnRequest(
            query=self.query,
            session_id=self.session_id,
            model=self.model,
            window=self.window,
            incognito=self.incognito,
            goal_turn=self.goal_turn,
            record=False,
        )

    def what_if(self) -> WhatIf:
        return WhatIf(frozenset(self.confirmed), frozenset(self.rejected), frozenset(self.pinned))


class SectionOut(Out):
    label: Part
    chars: int
    truncated: bool


class ShedOut(Out):
    label: Part
    dropped_items: int
    dropped_chars: int


class BudgetOut(Out):
    ceiling_chars: int | None = Field(description="null: no ceiling")
    used_chars: int
    overflow: list[ShedOut]


class ContextOut(Out):
    """The text for the model, and what stands in it."""

    text: str
    sections: list[SectionOut]
    digest_ids: list[str]
    hot_ids: list[Ref]
    rag_ids: list[Ref]
    sources: list[str] = Field(description="Where the delivered rows came from, each once")
    budget: BudgetOut
    injection_id: int | None = Field(description="The turn's row in the log; null where it has none")


class ItemOut(Out):
    """A delivered entry. What only newer rows of the log have is null in older ones."""

    part: Part
    id: Ref
    rank: int
    words: str | None = Field(description="As the model read them")
    score: float | None
    trust: Literal["operator", "agent", "external"] | None
    review_state: Verdict | None
    source: str | None

    @classmethod
    def of(cls, item: Delivered | Item, **more: Any) -> Self:
        trust = item.tier.label if item.tier is not None else None
        known = {name: getattr(item, name) for name in ("part", "rank", "words", "score", "source")}
        named = {"id": item.ref, "trust": trust, "review_state": item.verdict}
        return cls.model_validate(known | named | more)


class LeftOutOut(Out):
    part: Part
    id: Ref
    reason: Reason

    @classmethod
    def of(cls, item: LeftOut) -> "LeftOutOut":
        return cls(part=item.part, id=item.ref, reason=item.reason)


class PreviewOut(ContextOut):
    """What the next turn would be told, entry by entry, and what it would not be told."""

    items: list[ItemOut]
    left_out: list[LeftOutOut]

    @classmethod
    def of(cls, projection: Projection) -> "PreviewOut":
        return cls(
            **ContextOut.model_validate(answer_of(projection, None)).model_dump(),
            items=[ItemOut.of(item) for item in projection.delivered],
            left_out=[LeftOutOut.of(item) for item in projection.left_out],
        )


Message = Annotated[
    dict[str, JsonValue],
    Field(
        json_schema_extra={
            "required": ["role"],
            "properties": {
                "id": {"type": ["string", "null"], "maxLength": MAX_MESSAGE_ID_CHARS},
                "role": {"type": "string"},
                "content": {"type": ["string", "array", "null"]},
                "name": {"type": ["string", "null"], "maxLength": MAX_MESSAGE_ID_CHARS},
                "tool_call_id": {"type": ["string", "null"], "maxLength": MAX_MESSAGE_ID_CHARS},
                "tool_calls": {"type": ["array", "null"], "items": {"type": "object"}},
            },
        }
    ),
]


class TurnsIn(In):
    """The messages of a turn; what is already kept is not kept twice."""

    messages: list[Message] = Field(max_length=MOST_MESSAGES)
    terminal: Flag | None = Field(default=None, description="Whether the turn is over; else derived")
    incognito: Flag = False
    surface: Annotated[CleanText, Field(max_length=MAX_SURFACE_CHARS)] | None = None
    trace_id: Annotated[CleanText, Field(max_length=MAX_TRACE_ID_CHARS)] | None = None


class TurnsOut(Out):
    stored: int = Field(description="How many messages are new")
    summary_written: bool
    reason: NoSummary | None = Field(description="Why no summary was written")
    detail: str = Field(description="What kept a summary from being written, where the reason is not_written")
