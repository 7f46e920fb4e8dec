"""What other parts of the site have to say about a row, shown where the row is shown.

They register here when the site starts, so that nothing here has to know them.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from knowledge.types import Chunk
from protoconsole.actors import Actor


class Place(StrEnum):
    """Where on a page something can be said."""

    CHUNK = "chunk"  # a section on the page of a row
    CARD = "card"  # a line of the facts on a card of Review


@dataclass(frozen=True, slots=True)
class Aside:
    """A template and the one value that it shows, under the name `aside`."""

    template: str
    value: object


Speaker = Callable[[Chunk, Actor], Sequence[Aside]]
# Names the waiting rows that pass a filter which only somebody else can answer.
Sieve = Callable[[], Sequence[int]]
NO_ROW = 0
_sieves: dict[str, Sieve] = {}
_speakers: dict[Place, dict[str, Speaker]] = defaultdict(dict)


def register(place: Place, name: str, speaker: Speaker) -> None:
    """Let somebody speak in a place; the same name again takes the place of the first."""
    _speakers[place][name] = speaker


def register_sieve(name: str, sieve: Sieve) -> None:
    """Let somebody answer a filter of Review."""
    _sieves[name] = sieve


def sifted(name: str) -> tuple[int, ...]:
    """Name the waiting rows that pass a filter, at least one id: no id at all would mean every row."""
    return tuple(_sieves[name]()) or (NO_ROW,)


def asides(place: Place, chunk: Chunk, by: Actor) -> list[Aside]:
    """Ask everybody what there is to say about a row."""
    return [aside for speaker in _speakers[place].values() for aside in speaker(chunk, by)]
