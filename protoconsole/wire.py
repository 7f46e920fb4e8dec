"""What every route of the JSON API shares: bodies, answers, roles. It knows neither app."""

from collections.abc import Collection, Mapping
from typing import Any

from django.utils.http import parse_etags
from pydantic import BaseModel, ConfigDict

from protoconsole.access.api_auth import allow
from protoconsole.actors import Role

READERS = (Role.VIEWER, Role.OPERATOR, Role.AGENT, Role.PLUGIN)
GOVERNORS = (Role.VIEWER, Role.OPERATOR)

BODY_REFUSALS = (400, 413, 415)
ALWAYS_POSSIBLE = (401, 403, 422, 500, 503)


class In(BaseModel):
    """What a caller sends; a field that is not declared is refused."""

    model_config = ConfigDict(extra="forbid")


class Out(BaseModel):
    """What a caller is answered, read from the values of the apps."""

    model_config = ConfigDict(from_attributes=True)


class Problem(Out):
    """Every refusal: a word for programs and a sentence for people."""

    code: str
    detail: str


def door(
    *roles: Role, answers: Mapping[int, Any], refusals: Collection[int] = (), body: bool = False
) -> dict[str, Any]:
    """Declare a route's roles and all its answers: `@router.get("/things", **door(...))`."""
    statuses = {*ALWAYS_POSSIBLE, *refusals, *(BODY_REFUSALS if body else ())}
    return {
        "auth": allow(*roles),
        "response": {**answers, **dict.fromkeys(sorted(statuses), Problem)},
        "openapi_extra": {"x-roles": sorted(roles)},
    }


def etag(version: str) -> str:
    return f'"{version}"'


def versions_in(header: str | None) -> list[str] | None:
    """Read the versions that If-Match or If-None-Match names; None where it is absent or names any.

    A tag that a proxy weakened still counts: it names one exact version. So does one without quotes.
    """
    tags = parse_etags(header) or [header] if header else ["*"]
    return None if "*" in tags else [tag.removeprefix("W/").strip('"') for tag in tags]
