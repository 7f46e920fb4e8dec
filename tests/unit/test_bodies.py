"""Bodies of requests: read whole, within bounds of size, time and room."""

import asyncio
import json
from collections.abc import Iterable

import pytest

from protoconsole.bodies import STRANGERS_BYTES, Message, Receive, Room, Send, with_whole_body

KEY = (b"x-api-key", b"pc_made_up")


def sending(parts: Iterable[bytes], *, then_silent: bool = False) -> Receive:
    """Play a client that sends a body in parts, and perhaps never the last of them."""
    left = list(parts)

    async def receive() -> Message:
        if not left and then_silent:
            await asyncio.Event().wait()
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left) or then_silent}

    return receive


def posted(
    receive: Receive, *headers: tuple[bytes, bytes], room: Room, limit: int = 2_000_000, patience: float = 30
) -> tuple[int, bytes]:
    """Send a body through the gate to an application that echoes it; give status and answer."""
    sent: list[Message] = []

    async def echo(scope: Message, receive: Receive, send: Send) -> None:
        message = await receive()
        length = dict(scope["headers"]).get(b"content-length")
        assert length == b"%d" % len(message["body"])
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": message["body"]})

    async def send(message: Message) -> None:
        sent.append(message)

    gate = with_whole_body(echo, limit, room, patience)
    asyncio.run(gate({"headers": [(b"transfer-encoding", b"chunked"), *headers]}, receive, send))
    return sent[0]["status"], sent[1]["body"]


def refused(answer: tuple[int, bytes]) -> tuple[int, str]:
    return answer[0], json.loads(answer[1])["code"]


def test_a_body_in_parts_arrives_whole() -> None:
    assert posted(sending([b"one, ", b"two"]), room=Room(100)) == (200, b"one, two")


@pytest.mark.parametrize("name", [b"x-api-key", b"authorization", b"cookie"])
def test_whoever_names_themselves_may_send_more(name: bytes) -> None:
    body = b"x" * (STRANGERS_BYTES + 1)
    assert refused(posted(sending([body]), room=Room())) == (413, "too_large")
    assert posted(sending([body]), (name, b"somebody"), room=Room()) == (200, body)


def test_a_body_over_the_limit_is_refused_though_signed() -> None:
    parts = [b"x" * 60, b"x" * 41]
    assert refused(posted(sending(parts), KEY, room=Room(), limit=100)) == (413, "too_large")


def test_a_body_that_does_not_end_is_refused_in_time() -> None:
    receive = sending([b"one"], then_silent=True)
    assert refused(posted(receive, room=Room(), patience=0.05)) == (408, "too_slow")


def test_bodies_share_a_room_and_leave_it_empty() -> None:
    room = Room(100)
    assert refused(posted(sending([b"x" * 60, b"x" * 41]), room=room)) == (503, "unavailable")
    assert room.free == 100
    with room.kept() as take:
        take(50)
        assert refused(posted(sending([b"x" * 51]), room=room)) == (503, "unavailable")
        assert posted(sending([b"x" * 50]), room=room)[0] == 200
    assert room.free == 100
