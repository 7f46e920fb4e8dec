"""What the injection log says beside a row: on its page, and on its card in Review."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps

from django.db import DatabaseError

from knowledge.beside import Aside, Place, Speaker, register, register_sieve
from knowledge.errors import SearchBroken
from knowledge.types import Chunk
from memory.readings import Readings, Turns, readings_of, turns_of, waiting_after_external
from protoconsole.actors import MAINTENANCE, Actor


@dataclass(frozen=True, slots=True)
class Entering:
    """The turns that a row entered, and what the session that wrote it had read."""

    turns: Turns
    readings: Readings | None
    deliverable: bool


def _or_unreadable(speak: Callable[[Chunk, Actor], Sequence[Aside]]) -> Speaker:
    """A log that cannot be read must not take the page of the row with it."""

    @wraps(speak)
    def speaking(chunk: Chunk, by: Actor) -> Sequence[Aside]:
        try:
            return speak(chunk, by)
        except DatabaseError as error:
            return [Aside("memory/_log_unreadable.html", str(error))]

    return speaking


@_or_unreadable
def on_page(chunk: Chunk, by: Actor) -> Sequence[Aside]:
    """Tell the turns that the row entered and what its session had read before."""
    entering = Entering(turns_of(chunk.id), readings_of(chunk, by), chunk.valid)
    return [Aside("memory/_chunk_turns.html", entering)]


@_or_unreadable
def on_card(chunk: Chunk, by: Actor) -> Sequence[Aside]:
    """Tell in a line what its session had read before, where that was anything doubtful."""
    readings = readings_of(chunk, by)
    return [Aside("memory/_card_readings.html", readings)] if readings and readings.items else []


def had_read_external() -> Sequence[int]:
    """Name the waiting rows whose session had read text from outside; a broken log is no empty list."""
    try:
        return waiting_after_external(MAINTENANCE)
    except DatabaseError as error:
        raise SearchBroken(f"the injection log cannot be read: {error}") from error


def install() -> None:
    """Let the log speak on the pages of what is known."""
    register(Place.CHUNK, "injections", on_page)
    register(Place.CARD, "injections", on_card)
    register_sieve("external", had_read_external)
