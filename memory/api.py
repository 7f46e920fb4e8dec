"""The JSON door of memory: an operator's verdicts, and the tools of agents."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Header, Router

from knowledge import services
from knowledge.api import IfMatch, tagged, version_to_match
from knowledge.errors import NotFound
from knowledge.schemas import ChunkOut, ReviewIn, RowId
from memory.tools.registry import TOOLS
from memory.tools.tool import Answer, Call, Tool
from protoconsole.access.requests import KnownRequest
from protoconsole.actors import Role, Surface
from protoconsole.wire import Out, door

TRUE = frozenset({"1", "true", "yes"})
CALLERS = (Role.AGENT, Role.OPERATOR)
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

review_router = Router(tags=["memory"])
tools_router = Router(tags=["tools"])

Incognito = Annotated[
    str | None, Header(alias="X-Incognito", description="1: the conversation leaves no trace in memory")
]


class ToolOut(Out):
    name: str
    description: str
    writes: bool
    input_schema: dict[str, Any]


class ToolList(Out):
    items: list[ToolOut]
    next: None = None


@review_router.post(
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
        return tool.run(Call(by, incognito=(incognito or "").strip().lower() in TRUE), body)

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
