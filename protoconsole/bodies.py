"""Reads the body of a request whole before a thread works on it, within bounds that hold for strangers too.

Nobody is known yet at this door: whether a key is live or a session stands is found out by a thread, later.
Without any credentials there is only a form to sign in to send, so a stranger's body is kept small; what all
bodies take together is bounded as well, since credentials are easily made up.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

STRANGERS_BYTES = 1024 * 1024
ROOM_BYTES = 256 * 1024 * 1024  # for the bodies of all requests of a process
PATIENCE_S = 60.0
READ_ON = 4  # times the limit, so that a client which sends first and listens later gets its answer
CREDENTIALS = frozenset({b"authorization", b"x-api-key", b"cookie"})


class Refused(Exception):
    """The body is not read to its end."""

    status: int
    code: str
    detail: str


class TooLarge(Refused):
    status, code = 413, "too_large"
    detail = "The body of the request is larger than this server takes."


class TooSlow(Refused):
    status, code = 408, "too_slow"
    detail = "The body of the request did not come in time."


class NoRoom(Refused):
    status, code = 503, "unavailable"
    detail = "The server is reading as much as it can hold; try again."


@dataclass
class Room:
    """How many bytes the bodies of all requests may still take."""

    free: int = ROOM_BYTES

    @contextmanager
    def kept(self) -> Iterator[Callable[[int], None]]:
        """Give a function that takes bytes, which are free again at the end. It raises NoRoom."""
        taken = 0

        def take(size: int) -> None:
            nonlocal taken
            if size > self.free:
                raise NoRoom
            self.free -= size
            taken += size

        try:
            yield take
        finally:
            self.free += taken


def with_whole_body(app: App, limit: int, room: Room, patience: float = PATIENCE_S) -> App:
    """Hand a request on once its body is complete, so that a slow client never holds a thread.

    A body of more than `limit` bytes is answered with 413, or of more than a stranger's where nothing says
    who sends it; one that does not come in `patience` seconds with 408; one for which there is no room with 503.
    """

    async def gate(scope: Message, receive: Receive, send: Send) -> None:
        most = limit if is_signed(scope["headers"]) else min(limit, STRANGERS_BYTES)
        with room.kept() as take:
            try:
                async with asyncio.timeout(patience):
                    body = await _read(receive, most, take)
            except TimeoutError:
                await _answer(send, TooSlow())
            except Refused as refusal:
                await _answer(send, refusal)
            else:
                if body is not None:
                    headers = _with_length(scope["headers"], len(body))
                    await app({**scope, "headers": headers}, _once(body, receive), send)

    return gate


def is_signed(headers: Headers) -> bool:
    """Say whether a request names anybody, true or not."""
    return any(name in CREDENTIALS for name, _ in headers)


async def _read(receive: Receive, limit: int, take: Callable[[int], None]) -> bytes | None:
    """Read a body; None when the client went away. Raises TooLarge and NoRoom."""
    body, size, more = bytearray(), 0, True
    while more and size <= limit * READ_ON:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size <= limit:
            take(len(part))
            body += part
    if size > limit:
        raise TooLarge
    return bytes(body)


async def _answer(send: Send, refusal: Refused) -> None:
    body = json.dumps({"code": refusal.code, "detail": refusal.detail}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    if refusal.status == 503:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _with_length(headers: Headers, length: int) -> Headers:
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
