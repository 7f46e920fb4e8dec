"""The JSON door of memory: what turns are told and tell, the record of it, and the tools of agents."""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Header, Query, Router, Status

from knowledge import services
from knowledge.api import IfMatch, tagged, version_to_match
from knowledge.errors import Forbidden, Invalid, NotFound
from knowledge.schemas import ChunkEdit, ChunkOut, PageParameters, ReviewIn, RowId
from memory import deleting, delivery, evidence, hot, session_list, turn_faults, turn_list
from memory.injections import queries as injections
from memory.record_schemas import (
    HotList,
    HotOut,
    InjectionDetail,
    InjectionId,
    InjectionList,
    InjectionParameters,
    SessionList,
    SessionOut,
)
from memory.schemas import (
    ContextIn,
    ContextOut,
    PreviewOut,
    PreviewParameters,
    TurnsIn,
    TurnsOut,
    WorkingStateBody,
)
from memory.threads import is_incognito, post_turns
from memory.tools.registry import TOOLS
from memory.tools.tool import Answer, Call, Tool
from memory.working_states import put_working_state
from protoconsole.access.requests import KnownRequest
from protoconsole.access.sessions import check_session, claim_session
from protoconsole.actors import Actor, Role, Surface
from protoconsole.wire import GOVERNORS, Out, door

if TYPE_CHECKING:
    from protoconsole.access.models import ApiKey

TRUE = frozenset({"1", "true", "yes"})
CALLERS = (Role.AGENT, Role.OPERATOR)
PLAIN_TEXT = "text/plain; charset=utf-8"
CLAIM_PATIENCE_S = 0.2  # of a call that is the first of its session
SESSION_PARAMETER = {
    "parameters": [
        {
            "in": "header",
            "name": "X-Session-Id",
            "required": False,
            "schema": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,200}$"},
            "description": "The conversation that calls; it becomes the source of what is written",
        }
    ]
}

turn_router = Router(tags=["turns"])
sessions_router = Router(tags=["turns"])
memory_router = Router(tags=["memory"])
tools_router = Router(tags=["tools"])

Incognito = Annotated[
    str | None, Header(alias="X-Incognito", description="1: the conversation leaves no trace in memory")
]


def _is_on(incognito: str | None) -> bool:
    return (incognito or "").strip().lower() in TRUE


@turn_router.post("/context", **door(*CALLERS, answers={200: ContextOut}, body=True))
def context(request: KnownRequest, body: ContextIn, incognito: Incognito = None) -> ContextOut:
    """Give a turn the text to put before its model, and record what stands in it."""
    session_id = _session_of(body.session_id, request.actor)
    turn = body.turn(session_id, incognito=body.incognito or _is_on(incognito))
    hold(request, session_id, incognito=turn.incognito)
    return ContextOut.model_validate(delivery.deliver(turn, request.actor))


@turn_router.get("/prompts/preview", **door(*GOVERNORS, answers={200: PreviewOut}))
def preview(request: KnownRequest, parameters: Query[PreviewParameters]) -> PreviewOut:
    """Show what a turn would be told now, also as if rows were ruled on otherwise; nothing is recorded."""
    return PreviewOut.of(delivery.preview(parameters.turn(), parameters.what_if()))


@sessions_router.post("/{session_id}/turns", **door(*CALLERS, answers={200: TurnsOut}, body=True))
def turns(request: KnownRequest, session_id: str, body: TurnsIn, incognito: Incognito = None) -> TurnsOut:
    """Keep what is new of a conversation, and write its summary when the turn is over."""
    claim_session(_key(request), session_id, field="session_id")
    kept = post_turns(
        session_id,
        body.messages,
        by=request.actor,
        terminal=body.terminal,
        incognito=body.incognito or _is_on(incognito),
        surface=body.surface,
        trace_id=body.trace_id,
    )
    return TurnsOut.model_validate(kept)


@sessions_router.put(
    "/{session_id}/working-state", **door(*CALLERS, answers={200: WorkingStateBody}, body=True)
)
def working_state(
    request: KnownRequest, session_id: str, body: WorkingStateBody, incognito: Incognito = None
) -> WorkingStateBody:
    """Keep what the agent is at, for the turns that do not tell it themselves."""
    check_session(_key(request), session_id, field="session_id")
    if _is_on(incognito) or is_incognito(session_id):
        raise Forbidden("nothing of an incognito conversation is kept; send working_state with each turn")
    claim_session(_key(request), session_id, field="session_id")
    put_working_state(session_id, body.value(), request.actor)
    return body


def hold(request: KnownRequest, session_id: str | None, *, incognito: bool) -> None:
    """Refuse another agent's session, and hold a new one for the key that calls unless it is incognito."""
    if session_id is None:
        return
    if check_session(_key(request), session_id, field="session_id") and not incognito:
        with turn_faults.notes_can_wait():
            claim_session(_key(request), session_id, field="session_id", patience=CLAIM_PATIENCE_S)


def _key(request: KnownRequest) -> "ApiKey":
    return request.auth  # type: ignore[attr-defined, no-any-return]


def _session_of(told: str | None, by: Actor) -> str | None:
    """Give the session that a body tells, else that of the header; Invalid where they are two."""
    if told and by.session_id and told != by.session_id:
        raise Invalid("session_id", "is not the session of the header X-Session-Id; send one of them")
    return told or by.session_id


@memory_router.get("/sessions", **door(*GOVERNORS, answers={200: SessionList}))
def list_sessions(request: HttpRequest, parameters: Query[PageParameters]) -> SessionList:
    """List the sessions that have a summary, newest first, with the line that an agent is told of each."""
    return SessionList.of(session_list.browse(cursor=parameters.cursor or "", limit=parameters.limit))


@memory_router.get("/sessions/{session_id}", **door(*GOVERNORS, answers={200: SessionOut}, refusals=[404]))
def get_session(request: HttpRequest, session_id: str) -> SessionOut:
    """Read the summary of a session."""
    return SessionOut.opened(session_list.opened(session_id))


@memory_router.delete(
    "/sessions/{session_id}", **door(Role.OPERATOR, answers={204: None}, refusals=[404, 409])
)
def delete_session(request: KnownRequest, session_id: str) -> Status[None]:
    """Delete a session's summary with its line in the digest; for a day an operator can bring it back."""
    deleting.delete(session_id, request.actor)
    return Status(204, None)


@memory_router.get("/hot", **door(*GOVERNORS, answers={200: HotList}))
def list_hot(request: KnownRequest, parameters: Query[PageParameters]) -> HotList:
    """List the always-on rows in the order of delivery, and say which of them the next turn is given."""
    return HotList.of(hot.page(request.actor, cursor=parameters.cursor, limit=parameters.limit))


@memory_router.put(
    "/hot/{chunk_id}", **door(Role.OPERATOR, answers={200: HotOut}, refusals=[404, 409, 412], body=True)
)
def edit_hot(
    request: KnownRequest, chunk_id: RowId, body: ChunkEdit, response: HttpResponse, if_match: IfMatch = None
) -> HotOut:
    """Change an always-on row and answer the one that now stands; another delivery_policy unpins it."""
    version = version_to_match(if_match, chunk_id, request.actor)
    row = hot.edit(chunk_id, body.edit(), request.actor, if_match=version)
    tagged(row.chunk, response)
    return HotOut.of_row(row)


@memory_router.delete("/hot/{chunk_id}", **door(Role.OPERATOR, answers={204: None}, refusals=[404, 412]))
def delete_hot(request: KnownRequest, chunk_id: RowId, if_match: IfMatch = None) -> Status[None]:
    """Delete an always-on row for good."""
    version = version_to_match(if_match, chunk_id, request.actor)
    hot.delete(chunk_id, request.actor, if_match=version)
    return Status(204, None)


@memory_router.get("/injections", **door(*GOVERNORS, answers={200: InjectionList}))
def list_injections(request: HttpRequest, parameters: Query[InjectionParameters]) -> InjectionList:
    """List the turns that were told something from memory, newest first."""
    query = turn_list.query_from(parameters.filters())
    return InjectionList.of(injections.turns(query, cursor=parameters.cursor, limit=parameters.limit))


@memory_router.get(
    "/injections/{injection_id}", **door(*GOVERNORS, answers={200: InjectionDetail}, refusals=[404])
)
def get_injection(request: KnownRequest, injection_id: InjectionId) -> InjectionDetail:
    """Read a turn as it was, each row beside what has become of it."""
    return InjectionDetail.of(evidence.replay(injection_id, request.actor))


@memory_router.get(
    "/injections/{injection_id}/text", **door(*GOVERNORS, answers={200: None}, refusals=[404, 410])
)
def get_injection_text(request: HttpRequest, injection_id: InjectionId) -> HttpResponse:
    """Give the text that a turn was told, byte for byte, with its SHA-256 in X-Content-SHA256."""
    text = injections.text_of(injection_id).encode()
    return HttpResponse(text, content_type=PLAIN_TEXT, headers={"X-Content-SHA256": sha256(text).hexdigest()})


class ToolOut(Out):
    name: str
    description: str
    writes: bool
    input_schema: dict[str, Any]


class ToolList(Out):
    items: list[ToolOut]
    next: None = None


@memory_router.post(
    "/chunks/{chunk_id}/review",
    **door(Role.OPERATOR, answers={200: ChunkOut}, refusals=[404, 409, 412], body=True),
)
def review(
    request: KnownRequest, chunk_id: RowId, body: ReviewIn, response: HttpResponse, if_match: IfMatch = None
) -> ChunkOut:
    """Rule on a row and answer it as it now is."""
    version = version_to_match(if_match, chunk_id, request.actor)
    ruled = services.review(chunk_id, body.state, request.actor, reason=body.reason, if_match=version)
    return tagged(ruled, response)


@tools_router.get("", **door(*CALLERS, Role.VIEWER, answers={200: ToolList}))
def list_tools(request: HttpRequest) -> ToolList:
    """List the tools with the JSON Schema of their arguments."""
    return ToolList(items=[ToolOut.model_validate(tool) for tool in TOOLS.values()])


def _route(tool: Tool) -> Callable[..., Answer[Any]]:
    def call(request: KnownRequest, body: Any, incognito: Incognito = None) -> Answer[Any]:
        by = replace(request.actor, surface=Surface.TOOL)
        hidden = _is_on(incognito) or (by.session_id is not None and is_incognito(by.session_id))
        hold(request, by.session_id, incognito=hidden)
        return tool.run(Call(by, incognito=hidden), body)

    call.__name__ = tool.name
    call.__doc__ = tool.description
    call.__annotations__["body"] = tool.arguments
    return call


def _add_route(tool: Tool) -> None:
    declared = door(*CALLERS, answers={200: tool.answer}, refusals=[404], body=True)
    declared["openapi_extra"] |= SESSION_PARAMETER
    tools_router.post(f"/{tool.name}", summary=tool.name, **declared)(_route(tool))


for _tool in TOOLS.values():
    _add_route(_tool)


@tools_router.post("/{name}", include_in_schema=False, **door(*CALLERS, answers={200: None}))
def unknown_tool(request: HttpRequest, name: str) -> None:
    """Refuse a name that no tool has."""
    raise NotFound(f"there is no tool of that name; there are: {', '.join(TOOLS)}")
