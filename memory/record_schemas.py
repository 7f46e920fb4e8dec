"""The shapes in JSON of what operators read: sessions, always-on rows, the record of every turn."""

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, JsonValue

from knowledge.errors import NotFound
from knowledge.schemas import MAX_ID_DIGITS, ChunkOut, CleanText, PageParameters
from knowledge.types import Page
from memory.envelope.frames import SEPARATOR
from memory.evidence import MEMORY_PARTS, Entry, Replay, Since
from memory.hot import HotRow
from memory.injections.types import Turn
from memory.schemas import BudgetOut, ItemOut, LeftOutOut, SectionOut
from memory.session_list import ListedSession, OpenedSession
from memory.types import Absence, Part, Reason, Ref, Summary
from protoconsole.wire import Out


def _injection_id(value: object) -> object:
    text = str(value)
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_ID_DIGITS):
        raise NotFound("there is no such turn in the log; ids are whole numbers")
    return int(text)


InjectionId = Annotated[int, BeforeValidator(_injection_id)]


class SessionRowOut(Out):
    """A session that has a summary."""

    session_id: str
    timestamp: str
    size: int = Field(description="Of its file, in bytes")
    line: str | None = Field(description="What the digest tells of it; null where the file is unreadable")
    in_digest: bool
    why_not: Absence | None
    fault: str | None = Field(description="Why the file cannot be read")

    @classmethod
    def of(cls, listed: ListedSession, **more: Any) -> Self:
        return cls(
            session_id=listed.session_id,
            timestamp=listed.timestamp,
            size=listed.size,
            line=SEPARATOR.join(listed.told) or None,
            in_digest=listed.absence is None,
            why_not=listed.absence,
            fault=listed.fault or None,
            **more,
        )


class SessionList(Out):
    items: list[SessionRowOut]
    next: str | None

    @classmethod
    def of(cls, page: Page[ListedSession]) -> "SessionList":
        return cls(items=[SessionRowOut.of(listed) for listed in page.items], next=page.next)


class SpokenOut(Out):
    role: str
    content: str


class ToolCallOut(Out):
    name: str
    args: JsonValue
    result: str
    duration_ms: float


class SummaryOut(Out):
    """What was said, without leaked reasoning and credentials."""

    trace_id: str | None
    messages: list[SpokenOut]
    tool_calls: list[ToolCallOut]
    tool_calls_total: int | None = Field(description="Where there were more calls than are listed")
    final_output: str


class SessionOut(SessionRowOut):
    summary: SummaryOut | None = Field(description="null where the file is unreadable")

    @classmethod
    def opened(cls, session: OpenedSession) -> "SessionOut":
        content = session.content
        summary = SummaryOut.model_validate(content) if isinstance(content, Summary) else None
        return cls.of(session.listed, summary=summary)


class HotOut(ChunkOut):
    """An always-on row; `injecting` says whether the next turn is given it."""

    injecting: bool
    why_not: Reason | None

    @classmethod
    def of_row(cls, row: HotRow) -> "HotOut":
        chunk = ChunkOut.model_validate(row.chunk).model_dump()
        return cls(**chunk, injecting=row.injecting, why_not=row.why_not)


class HotList(Out):
    """Always-on rows in the order of delivery, newest first."""

    items: list[HotOut]
    next: str | None

    @classmethod
    def of(cls, page: Page[HotRow]) -> "HotList":
        return cls(items=[HotOut.of_row(row) for row in page.items], next=page.next)


class KeptOut(Out):
    """What only rows of this console have; those of another program hold ids and no text."""

    key: str = Field(description="The name of the key that asked")
    turn_id: str | None
    model: str
    window: int | None
    text_sha256: str
    sections: list[SectionOut]
    budget: BudgetOut
    sources: list[str]


class InjectionOut(Out):
    """One turn that was told something from memory."""

    id: int
    ts: str
    session_id: str
    digest_ids: list[Ref]
    hot_ids: list[Ref]
    rag_ids: list[Ref]
    approx_tokens: int
    stage_counts: dict[str, int]
    legacy: bool = Field(description="Recorded by another program, which keeps ids only")
    kept: KeptOut | None


class InjectionList(Out):
    items: list[InjectionOut]
    next: str | None

    @classmethod
    def of(cls, page: Page[Turn]) -> "InjectionList":
        return cls(items=[InjectionOut.model_validate(turn) for turn in page.items], next=page.next)


class InjectionParameters(PageParameters):
    session_id: CleanText | None = None
    chunk_id: CleanText | None = Field(default=None, description="A row that entered")
    since: CleanText | None = Field(default=None, description="ISO 8601, included")
    until: CleanText | None = Field(default=None, description="ISO 8601, included; a day means its end")

    def filters(self) -> dict[str, str]:
        return self.model_dump(exclude={"cursor", "limit"}, exclude_none=True)


class EntryOut(ItemOut):
    """A delivered entry as it was then, with its row as it is now."""

    available: bool | None = Field(description="Whether it is still there; null for what is no memory")
    since: list[Since] = Field(description="What has become of its row")
    chunk: ChunkOut | None


class InjectionDetail(InjectionOut):
    query: str | None
    items: list[EntryOut]
    left_out: list[LeftOutOut]
    left_out_total: int = Field(description="There may have been more than are kept")
    damage: str | None = Field(description="Why the words cannot be shown")

    @classmethod
    def of(cls, replay: Replay) -> "InjectionDetail":
        detail = replay.detail
        return cls(
            **InjectionOut.model_validate(replay.turn).model_dump(),
            query=detail.query,
            items=[_entry(entry) for block in replay.blocks for entry in block.entries],
            left_out=[LeftOutOut.of(item) for item in detail.left_out],
            left_out_total=detail.left_out_total,
            damage=replay.damage or None,
        )


def _entry(entry: Entry) -> EntryOut:
    chunk = ChunkOut.model_validate(entry.chunk) if entry.chunk else None
    is_memory = entry.item.part in (Part.PRIOR_SESSIONS, *MEMORY_PARTS)
    available = Since.DELETED not in entry.since if is_memory else None
    return EntryOut.of(entry.item, available=available, since=list(entry.since), chunk=chunk)
