"""One address for everything: Django in a fixed pool of threads, inside an ASGI application.

A fixed pool, because Django keeps one SQLite connection a thread: few threads that stay keep few connections
that stay warm.
"""

import asyncio
import logging
import time
from typing import Any

from a2wsgi import WSGIMiddleware
from django.conf import settings
from django.core.wsgi import get_wsgi_application

from protoconsole.bodies import App, Message, Receive, Room, Send, with_whole_body
from protoconsole.maintenance import Maintenance

_log = logging.getLogger("protoconsole.requests")


def compose(threads: int) -> App:
    """Put the site together, with a pool of so many threads and the maintenance work beside it."""
    handler: Any = get_wsgi_application()
    django: Any = WSGIMiddleware(handler, workers=threads)
    http = logged(with_whole_body(django, settings.DATA_UPLOAD_MAX_MEMORY_SIZE, Room()))
    maintenance = Maintenance()

    async def site(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(maintenance, receive, send)
        elif scope["type"] == "http":
            await http(scope, receive, send)

    return site


async def _live(maintenance: Maintenance, receive: Receive, send: Send) -> None:
    await receive()
    maintenance.start()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await asyncio.to_thread(maintenance.stop)
    await send({"type": "lifespan.shutdown.complete"})


def logged(app: App) -> App:
    """Write one line a request: who, what, the answer, and how long. Queries may hold memory and stay out."""

    async def watch(scope: Message, receive: Receive, send: Send) -> None:
        began, status = time.monotonic(), 0

        async def note(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await app(scope, receive, note)
        finally:
            _write_line(scope, status, time.monotonic() - began)

    return watch


def _write_line(scope: Message, status: int, seconds: float) -> None:
    client = (scope.get("client") or ("-",))[0]
    # The raw path is still percent-encoded, so it cannot break the line.
    path = scope["raw_path"].decode("latin-1")
    _log.info("%s %s %s %s %.0fms", client, scope["method"], path, status or "-", seconds * 1000)
