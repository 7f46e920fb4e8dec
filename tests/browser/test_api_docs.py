"""The page that documents the API: served by ourselves alone, under the strict policy."""

import pytest
from playwright.sync_api import Page, Request

from protoconsole.api import api

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("store")]


def test_the_page_shows_every_call_and_asks_nobody_else(page: Page, live: str) -> None:
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    page.goto("/api/docs")
    page.locator(".opblock").first.wait_for()
    paths = api.get_openapi_schema(path_prefix="")["paths"]
    assert page.locator(".opblock").count() == sum(len(operations) for operations in paths.values())
    assert [request.url for request in asked if not request.url.startswith((live, "data:"))] == []


def test_a_call_opens_to_its_answers(page: Page) -> None:
    page.goto("/api/docs")
    page.locator("#operations-knowledge-knowledge_api_add_chunk").click()
    page.locator(".responses-table").first.wait_for()
    assert page.get_by_text("For keys of the roles: operator, plugin.").count() == 1
