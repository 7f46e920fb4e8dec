"""A real server over the files of the test, and a real Chromium in front of it."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import ThreadedWSGIServer
from django.test import Client
from django.test.testcases import QuietWSGIRequestHandler
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from protoconsole.access.models import Operator
from protoconsole.instance import Instance
from tests.browser.shots import launch
from tests.conftest import PASSWORD_BACKEND


class Server(ThreadedWSGIServer):
    """Django's threaded server; closing it waits until every thread has closed its connections."""

    daemon_threads = False
    block_on_close = True


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, gone before tests of other modules run: Playwright keeps an event loop in this thread.

    While it does, Django takes the thread for an asynchronous one and must be told that it is not.
    """
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        launched = launch(playwright)
        yield launched
        launched.close()


@pytest.fixture
def live(instance: Instance) -> Iterator[str]:
    """Serve the instance of the test and give the address; every thread opens the same files."""
    server = Server(("127.0.0.1", 0), QuietWSGIRequestHandler)
    server.set_app(WSGIHandler())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def complaints() -> list[str]:
    """What a page complained of; a test that provokes an error empties it."""
    return []


@pytest.fixture
def context_options() -> dict[str, Any]:
    """How the browser of a test is set up; override it, or parametrize it indirectly."""
    return {"viewport": {"width": 1440, "height": 900}}


@pytest.fixture
def context(
    browser: Browser, live: str, operator: Operator, context_options: dict[str, Any]
) -> Iterator[BrowserContext]:
    """A browser in which the operator is signed in; relative addresses lead to the server."""
    made = browser.new_context(base_url=live, **context_options)
    made.set_default_timeout(10_000)
    made.add_cookies([_session_of(operator, live)])
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, complaints: list[str]) -> Iterator[Page]:
    """A page of it. A console error or an uncaught one fails the test."""
    opened = context.new_page()
    watch(opened, complaints)
    yield opened
    opened.close()
    assert complaints == []


def watch(page: Page, complaints: list[str]) -> None:
    """Write down what the console of a page calls an error."""

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error":
            complaints.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(str(error)))


def _session_of(operator: Operator, live: str) -> Any:
    client = Client()
    client.force_login(operator, PASSWORD_BACKEND)
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value, "url": live}
