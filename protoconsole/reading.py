"""How the API reads what it is sent: JSON without surprises, and no parameter that means nothing."""

import json
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NoReturn

from django.http import HttpRequest
from ninja import NinjaAPI
from ninja.errors import ValidationError, ValidationErrorContext
from ninja.operation import Operation
from ninja.parser import Parser

from protoconsole.faults import sentence, shown

JSON_TYPE = "application/json"


class WrongMediaType(Exception):
    """The body is not declared to be JSON (415)."""


class MalformedBody(Exception):
    """The body is not readable JSON (400)."""


class JsonParser(Parser):
    """Read JSON as its standard has it: no NaN, and no name twice in one object."""

    def parse_body(self, request: HttpRequest) -> Any:
        if request.content_type != JSON_TYPE:
            raise WrongMediaType(f"The body must be sent as {JSON_TYPE}, not {shown(request.content_type)}.")
        try:
            return json.loads(request.body, object_pairs_hook=_object, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise MalformedBody(f"The body is not readable JSON: {shown(str(error))}.") from error


class Api(NinjaAPI):
    """An API whose validation errors are sentences and whose OpenAPI says who may call what."""

    def validation_error_from_error_contexts(
        self, error_contexts: list[ValidationErrorContext[Any]]
    ) -> ValidationError:
        faults = [
            {**error, "loc": _path_of(context.model, error["loc"])}
            for context in error_contexts
            for error in context.pydantic_validation_error.errors(include_url=False)
        ]
        return ValidationError([{"detail": sentence(faults)}])

    def get_openapi_schema(self, **options: Any) -> Any:
        schema = super().get_openapi_schema(**options)
        for operations in schema["paths"].values():
            for operation in operations.values():
                _name_roles(operation)
        return schema


def refuse_unknown_parameters(view: Callable[..., Any]) -> Callable[..., Any]:
    """Answer 422 to a query parameter that the route does not take, or takes once and was sent twice."""
    operation: Operation = view._ninja_operation  # type: ignore[attr-defined]

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        single, repeatable = _parameters_of(operation)
        for name, values in request.GET.lists():
            if name not in single and name not in repeatable:
                _refuse(name, "is not a parameter of this call; leave it out")
            if name in single and len(values) > 1:
                _refuse(name, "is sent more than once; send it once")
        return view(request, *args, **kwargs)

    return checked


def _parameters_of(operation: Operation) -> tuple[set[str], set[str]]:
    names: set[str] = set()
    repeatable: set[str] = set()
    for model in operation.models:
        if model.__ninja_param_source__ == "query":
            names |= set(model.__ninja_flatten_map__)
            repeatable |= set(model.__ninja_collection_fields__)
    return names - repeatable, repeatable


def _refuse(name: str, detail: str) -> NoReturn:
    shown_name = shown(name).strip('"')
    raise ValidationError([{"detail": f"{shown_name}: {detail}"}])


def _path_of(model: Any, path: Sequence[str | int]) -> Sequence[str | int]:
    """Leave out the name of the parameter of the view, which no caller knows."""
    if model.__ninja_param_source__ == "body":
        return path[1:]
    flat: Sequence[str | int] = model.__ninja_flatten_map_reverse__.get(path, path[-1:])
    return [part for part in flat if isinstance(part, str)] or path[:1]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for name, value in pairs:
        if name in names:
            raise ValueError(f"the name {shown(name)} stands twice in one object")
        names[name] = value
    return names


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _name_roles(operation: dict[str, Any]) -> None:
    roles = operation.get("x-roles")
    who = f"For keys of the roles: {', '.join(roles)}." if roles else "Open to everyone."
    operation["description"] = "\n\n".join(filter(None, (operation.get("description"), who)))
