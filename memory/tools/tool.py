"""What a tool is: one typed function, from which its route, its schema and its documents are made.

It is a function of a call and of its arguments as keywords, typed and described with `Annotated`. The
first sentence of its docstring is what a model reads before it chooses.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_type_hints

from pydantic import BaseModel, create_model

from protoconsole.actors import Actor
from protoconsole.instance import current
from protoconsole.wire import In, Out

MEMORY_OFF = "Memory is switched off on this instance (middleware.knowledge), so this tool does nothing."
INCOGNITO = "This conversation is incognito: nothing of it is written to memory."

D = TypeVar("D", bound=Out)


class Refused(Out):
    """A refusal of policy: nothing was done, and why."""

    outcome: Literal["refused"] = "refused"
    why: str
    id: None = None


class Answer(Out, Generic[D]):
    """What a tool answers: `text` for the model to read, `data` for the program around it."""

    text: str
    data: D | Refused


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, and whether the conversation may leave traces."""

    by: Actor
    incognito: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    writes: bool
    function: Callable[..., Answer[Any]]
    arguments: type[BaseModel]
    answer: Any

    @property
    def description(self) -> str:
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def input_schema(self) -> dict[str, Any]:
        """The arguments in JSON Schema."""
        return self.arguments.model_json_schema()

    def run(self, call: Call, arguments: BaseModel) -> Answer[Any]:
        """Do what the tool does, unless this instance or this conversation forbids it."""
        if not current().config.middleware.knowledge:
            return refusal(MEMORY_OFF)
        if self.writes and call.incognito:
            return refusal(INCOGNITO)
        return self.function(call, **{name: getattr(arguments, name) for name in self.arguments.model_fields})


def tool(*, writes: bool) -> Callable[[Callable[..., Answer[Any]]], Tool]:
    """Make a tool of a function, under the function's own name."""

    def make(function: Callable[..., Answer[Any]]) -> Tool:
        answer = get_type_hints(function)["return"]
        return Tool(function.__name__, writes, function, _arguments(function), answer)

    return make


def refusal(why: str) -> Answer[Any]:
    return Answer[Any](text=why, data=Refused(why=why))


def _arguments(function: Callable[..., Any]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints[name], ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    title = "".join(part.title() for part in function.__name__.split("_"))
    return create_model(f"{title}Arguments", __base__=In, **fields)
