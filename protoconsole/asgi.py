"""One address for everything: Django in a fixed pool of threads, inside an ASGI application.

A fixed pool, because Django keeps one SQLite connection a thread: few threads that stay keep few connections
that stay warm.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from a2wsgi import WSGIMiddleware
from django.conf import settings
from django.core.wsgi import get_wsgi_application

from protoconsole.maintenance import Maintenance

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

TOO_LARGE = b'{"code": "too_large", "detail": "The body of the request is larger than this server takes."}'
READ_ON = 4  # times the limit, so that a client which sends first and listens later gets its answer

_log = logging.getLogger("protoconsole.requests")


def compose(threads: int) -> App:
    """Put the site together, with a pool of so many threads and the maintenance work beside it."""
    handler: Any = get_wsgi_application()
    django: Any = WSGIMiddleware(handler, workers=threads)
    http = logged(with_whole_body(django, settings.DATA_UPLOAD_MAX_MEMORY_SIZE))
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


def with_whole_body(app: App, limit: int) -> App:
    """Hand a request on once its body is complete, so that a slow client never holds a thread.

    A body of more than `limit` bytes is answered with 413.
    """

    async def gate(scope: Message, receive: Receive, send: Send) -> None:
        body = await _read(receive, limit)
        if body is None:
            return
        if len(body) > limit:
            await _refuse(send)
            return
        await app({**scope, "headers": _with_length(scope["headers"], len(body))}, _once(body, receive), send)

    return gate


async def _read(receive: Receive, limit: int) -> bytes | None:
    """Read a body; None when the client went away. Of one that is too large, the beginning is kept."""
    body, size, more = bytearray(), 0, True
    while more and size <= limit * READ_ON:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if len(body) <= limit:
            body += part
    return bytes(body)


async def _refuse(send: Send) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(TOO_LARGE)),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": TOO_LARGE})


def _with_length(headers: list[tuple[bytes, bytes]], length: int) -> list[tuple[bytes, bytes]]:
    """Name the length, which a chunked request leaves open and without which Django reads nothing."""
    kept = [pair for pair in headers if pair[0] not in (b"content-length", b"transfer-encoding")]
    return [*kept, (b"content-length", b"%d" % length)] if length or len(kept) < len(headers) else kept


def _once(body: bytes, receive: Receive) -> Receive:
    unread = [body]

    async def replay() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return replay


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
