"""The tools over other sessions: find one, and read it."""

from typing import Annotated

from pydantic import Field

from knowledge.errors import NotFound
from knowledge.schemas import QueryText
from knowledge.types import MARK_CLOSE, MARK_OPEN
from memory import digest
from memory.tools.knowledge import At_Most_50
from memory.tools.lines import field, line
from memory.tools.tool import Answer, Call, tool
from memory.types import SessionCandidate, SessionHit, Summary, Unreadable
from protoconsole.wire import Out

MAX_CHARS = 24_000  # of one answer's text: a conversation can be longer than a model's window


class SessionOut(Out):
    session_id: str
    timestamp: str
    surface: str
    topic: str
    messages: int
    preview: str


class FoundSessions(Out):
    items: list[SessionOut]


class MessageOut(Out):
    role: str
    content: str


class RecalledSession(Out):
    session_id: str
    timestamp: str
    messages: list[MessageOut]
    final_output: str


@tool(writes=False)
def session_search(
    call: Call,
    *,
    query: Annotated[QueryText, Field(description="Words that were said in the session")],
    k: Annotated[At_Most_50, Field(description="How many sessions at most")] = 5,
) -> Answer[FoundSessions]:
    """Find other sessions by what was said in them; recall_session then reads one."""
    hits = digest.search(query, k)
    text = "\n".join(map(_entry, hits)) or "No session matches."
    return Answer[FoundSessions](text=text, data=FoundSessions(items=[_shown(hit) for hit in hits]))


@tool(writes=False)
def recall_session(
    call: Call,
    *,
    session_id: Annotated[
        str, Field(description="The id of a session, as the digest or session_search names it")
    ],
) -> Answer[RecalledSession]:
    """Read what was said in another session."""
    summary = digest.read(session_id)
    if isinstance(summary, Unreadable):
        raise NotFound(f"the summary of {session_id} cannot be read: {summary.reason}")
    if summary is None:
        raise NotFound(f"there is no summary of a session {session_id}")
    return Answer[RecalledSession](text=_told(summary), data=RecalledSession.model_validate(summary))


def _shown(hit: SessionHit) -> SessionOut:
    session = hit.session
    return SessionOut(
        session_id=session.session_id,
        timestamp=session.timestamp,
        surface=session.surface,
        topic=session.topic,
        messages=session.messages,
        preview=_unmarked(hit.preview),
    )


def _entry(hit: SessionHit) -> str:
    return f"{_heading(hit.session)}: {line(_unmarked(hit.preview))}"


def _heading(session: SessionCandidate) -> str:
    facts = (
        session.session_id,
        session.timestamp,
        session.surface,
        session.topic,
        f"{session.messages} msgs",
    )
    return " · ".join(field(fact) for fact in facts)


def _unmarked(preview: str) -> str:
    return preview.replace(MARK_OPEN, "").replace(MARK_CLOSE, "")


def _told(summary: Summary) -> str:
    """Tell a session a line a message, as another conversation's record and no part of this one."""
    lines = [f"Session {summary.session_id} of {summary.timestamp or 'an unknown time'}, for reference:"]
    lines += [f"{field(message.role)}: {line(message.content)}" for message in summary.messages]
    text = "\n".join(lines)
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}… ({len(text):,} characters in all)"
