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
    """How two facts compare."""

    match: Match
    score: float


def tokens(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(_folded(text)))


def carries_value(differing: frozenset[str]) -> bool:
    """Tell whether one of the words is a number, negation, weekday, month or unit."""
    return any(map(_is_value, differing))


def judge(new: str, old: str) -> Judgement:
    if _shape(new) == _shape(old):
        return Judgement(Match.DUPLICATE, 1.0)
    a, b = tokens(new), tokens(old)
    score = _overlap(a, b)
    if score >= DUPLICATE_FLOOR and not carries_value(a ^ b) and _values(new) == _values(old):
        match = Match.DUPLICATE
    else:
        match = Match.REVISION if score >= REVISION_FLOOR else Match.NONE
    return Judgement(match, float(score))


def best(new: str, candidates: Iterable[tuple[int, str]]) -> tuple[int, Judgement] | None:
    """Find the candidate of the highest overlap, None below the revision floor.

    Among equals a true repeat comes before a revision, and a newer row (higher id) before an older one.
    """
    judged = ((row_id, judge(new, old)) for row_id, old in candidates)
    matching = ((row_id, judgement) for row_id, judgement in judged if judgement.match is not Match.NONE)
    return max(matching, key=_rank, default=None)


@dataclass(frozen=True, slots=True)
class Probe:
    """A word under which to look for matches, and the sizes of those that no rarer word must lead to."""

    token: str
    least: int
    most: int


def probes(words: frozenset[str], frequency: Callable[[str], int]) -> list[Probe]:
    """Choose where to look so that no set with an overlap of at least 0.6 is missed, rarest words first.

    A set of m words must share s ≥ 0.6 / 1.6 · (n + m) of the n words, so it can miss n − s of them: it is
    found under the i-th rarest word at the latest (from 0) when n − s ≤ i. Larger sets must share more and
    need fewer probes. A text without words has one probe, the empty word: only the same text matches it.
    """
    n = len(words)
    if not words:
        return [Probe("", 0, 0)]
    rarest = sorted(words, key=lambda word: (frequency(word), word))
    least = math.ceil(REVISION_FLOOR * n)
    found = [Probe(word, least, _largest_needing(n - i) - n) for i, word in enumerate(rarest)]
    return [probe for probe in found if probe.most >= least]


def _largest_needing(shared: int) -> int:
    """Return the greatest n + m of two sets that are a match although they share no more than `shared`."""
    return math.floor(shared * (1 + REVISION_FLOOR) / REVISION_FLOOR)


def _overlap(a: frozenset[str], b: frozenset[str]) -> Fraction:
    """Return the Jaccard overlap of two sets of words; nothing overlaps with an empty set."""
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
