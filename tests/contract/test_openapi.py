"""Every call, made up from the description of the API itself, with a key of each role."""

from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, settings
from schemathesis.checks import CheckFunction
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from knowledge import services
from knowledge.adoption import Opening
from knowledge.types import NewChunk, Verdict
from protoconsole.access.keys import create_key
from protoconsole.actors import Role
from protoconsole.api import api
from tests.actors import AGENT, OPERATOR, PLUGIN

ROWS = 6


def described(*, coverage: bool) -> Any:
    """Load the description; `coverage` adds every boundary of every field, many calls an operation."""
    schema = schemathesis.openapi.from_dict(quick_to_make_up(api.get_openapi_schema(path_prefix="")))
    schema.app = get_wsgi_application()
    schema.config.phases.coverage.enabled = coverage
    return schema


def quick_to_make_up(part: Any) -> Any:
    """Leave out what makes texts costly to invent: texts at their greatest length are tested elsewhere."""
    if isinstance(part, dict):
        return {k: quick_to_make_up(v) for k, v in part.items() if k not in ("maxLength", "pattern")}
    return [quick_to_make_up(item) for item in part] if isinstance(part, list) else part


thorough, brief = described(coverage=True), described(coverage=False)

few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
CHECKS: list[CheckFunction] = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@pytest.fixture
def rows(store: Opening) -> None:
    """A few rows of every state, so that made-up calls also meet something."""
    for actor in (OPERATOR, AGENT, PLUGIN):
        for n in range(ROWS // 3):
            services.add(NewChunk(f"row {n} of {actor.role}", domain="fact", heading="h"), actor)
    services.review(ROWS, Verdict.REJECTED, OPERATOR)
    services.delete_by_source("plugin:importer", OPERATOR)


@pytest.fixture
def token(role: Role | None, rows: None) -> str | None:
    return create_key("key", role, created_by="tests")[1] if role else None


@pytest.mark.parametrize("role", [Role.OPERATOR])
@thorough.parametrize()
@few
def test_an_operator_gets_what_the_description_promises(case: Any, token: str | None) -> None:
    call(case, token)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT, Role.PLUGIN, None])
@brief.parametrize()
@few
def test_every_other_role_does_too(case: Any, token: str | None) -> None:
    call(case, token)


def call(case: Any, token: str | None) -> None:
    row = case.path_parameters.get("chunk_id")
    if isinstance(row, int) and row > 0 and row % 2:
        case.path_parameters["chunk_id"] = 1 + row % ROWS
    case.call_and_validate(headers={"X-API-Key": token} if token else {}, checks=CHECKS)
