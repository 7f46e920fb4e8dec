"""Consolidation of facts: does a new one repeat an old one, revise it, or stand beside it?

Facts are compared as sets of words (Jaccard overlap). What differs decides as well: a changed number or
negation makes a revision of what would otherwise count as a repeat.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from knowledge.value_words import VALUE_WORDS

DUPLICATE_FLOOR = Fraction(85, 100)
REVISION_FLOOR = Fraction(60, 100)

_WORD = re.compile(r"[\w']+")
_AROUND_VALUES = ".,;:!?…()[]{}\"'`*_“”‘"
_WORDLIKE_LETTERS = frozenset("aio")


class Match(StrEnum):
    """What a new fact is to an old one."""

    DUPLICATE = "duplicate"
    REVISION = "revision"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Judgement:
    """How two facts compare. `near` tells of an overlap of 0.85 and more, whatever the values say."""

    match: Match
    score: float
    near: bool


def tokens(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_folded(text)))


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the Jaccard overlap of two sets of words; nothing overlaps with an empty set."""
    return float(_overlap(a, b))


def carries_value(differing: frozenset[str]) -> bool:
    """Tell whether one of the words is a number, negation, weekday, month or unit."""
    return any(map(_is_value, differing))


def judge(new: str, old: str) -> Judgement:
    if _shape(new) == _shape(old):
        return Judgement(Match.DUPLICATE, 1.0, near=True)
    a, b = tokens(new), tokens(old)
    score = _overlap(a, b)
    near = score >= DUPLICATE_FLOOR
    if near and not carries_value(a ^ b) and _values(new) == _values(old):
        match = Match.DUPLICATE
    else:
        match = Match.REVISION if score >= REVISION_FLOOR else Match.NONE
    return Judgement(match, float(score), near)


def best(new: str, candidates: Iterable[tuple[int, str]]) -> tuple[int, Judgement] | None:
    """Find the candidate of the highest overlap, None below the revision floor.

    Among equals a true repeat comes before a revision, and a newer row (higher id) before an older one.
    """
    judged = ((row_id, judge(new, old)) for row_id, old in candidates)
    matching = ((row_id, judgement) for row_id, judgement in judged if judgement.match is not Match.NONE)
    return max(matching, key=_rank, default=None)


def probe_tokens(
    words: frozenset[str], frequency: Callable[[str], int], floor: Fraction = REVISION_FLOOR
) -> list[str]:
    """Choose the rarest words such that every set with an overlap of at least `floor` holds one of them.

    Such a set shares at least ceil(floor · n) of the n words, so it can miss only the others; one word more
    than can be missed is enough. A text without words has no probe: only the same text matches it.
    """
    can_be_missed = len(words) - math.ceil(floor * len(words))
    by_rarity = sorted(words, key=lambda word: (frequency(word), word))
    return by_rarity[: can_be_missed + 1]


def size_bounds(n: int, floor: Fraction = REVISION_FLOOR) -> tuple[int, int]:
    """Return the least and the greatest number of words that a match of a text with `n` words can have."""
    return math.ceil(floor * n), math.floor(n / floor)


def _overlap(a: frozenset[str], b: frozenset[str]) -> Fraction:
    return Fraction(len(a & b), len(a | b) or 1)


def _rank(candidate: tuple[int, Judgement]) -> tuple[float, bool, int]:
    row_id, judgement = candidate
    return judgement.score, judgement.match is Match.DUPLICATE, row_id


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).replace("’", "'").lower()


def _shape(text: str) -> str:
    return " ".join(_folded(text).split())


def _values(text: str) -> list[str]:
    """List what a set of words loses: order and punctuation of numbers, signs, and marks on letters."""
    return [value for chunk in _folded(text).split() for value in _values_in(chunk)]


def _values_in(chunk: str) -> list[str]:
    if any(map(str.isnumeric, chunk)):
        return [chunk.rstrip(_AROUND_VALUES).lstrip(_AROUND_VALUES.replace(".", ""))]
    words = [word for word in _WORD.findall(chunk) if _is_value(word)]
    return words + [char for char in chunk if _is_sign(char)]


def _is_value(word: str) -> bool:
    bare = word.strip("'").removesuffix("'s")
    return (
        any(map(str.isnumeric, bare))
        or bare.endswith("n't")
        or (len(bare) == 1 and bare not in _WORDLIKE_LETTERS)  # options, units and drives: b, m, C:
        or bare in VALUE_WORDS
        or bare.removesuffix("s") in VALUE_WORDS
    )


def _is_sign(char: str) -> bool:
    category = unicodedata.category(char)
    return char in "%‰#" or category[0] == "M" or category in ("Sm", "Sc", "So")
