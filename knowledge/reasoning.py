"""Strip what a model thought aloud from a text that is to be kept.

A tag is `<think>` or `<scratch_pad>` in any letter case, read as HTML reads one: nothing between `<`, the
slash and the name, then optional white space or attributes on the same line. An empty `<think/>` holds no
reasoning and is no tag. A block ends where as many closers as openers of its own name have come, or else
at the end of the text. Back-ticks bind first, as in Markdown: a run of one or two reaches to the next run
of the same length on its line, a longer one to the next of the same length anywhere, and a tag in between
is a mention. The work is linear in the length of the text.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_TAG = r"<(?P<slash>/?)(?P<name>think|scratch_pad)(?:[ \t][^<>\n`]*)?(?<!/)>"
_FLAGS = re.IGNORECASE | re.ASCII
_ANY_TAG = re.compile(_TAG, _FLAGS)
_TOKEN = re.compile(rf"(?P<ticks>`+)|(?P<line>\n)|{_TAG}", _FLAGS)
_BEGUN_TAG = re.compile(r"<(?:/?[a-z_]{0,11}|/?(?:think|scratch_pad)[ \t][^<>\n`]*)\Z", _FLAGS)
_ONE_LINE_RUNS = (1, 2)
_BLANKS = " \t"


class _Leak(NamedTuple):
    start: int
    end: int
    stray: bool  # a closer without its opener: the words on both sides were one text


def strip_reasoning(text: str) -> str:
    """Return the text without leaked reasoning: '' when it was nothing else, itself when none leaked."""
    leaks = list(_leaks(text)) if _ANY_TAG.search(text) else []
    if not leaks:
        return text
    rest = _Rest()
    position = 0
    for leak in leaks:
        rest.keep(text[position : leak.start])
        rest.cut(stray=leak.stray, lines="\n" in text[leak.start : leak.end])
        position = leak.end
    rest.keep(text[position:])
    return "".join(rest.pieces).strip()


def _leaks(text: str) -> Iterator[_Leak]:
    opener: re.Match[str] | None = None
    depth = 0
    for tag in _tags(text):
        step = -1 if tag["slash"] else 1
        if opener is None and step < 0:
            yield _Leak(tag.start(), tag.end(), stray=True)
        elif opener is None:
            opener, depth = tag, 1
        elif tag["name"].lower() == opener["name"].lower():
            depth += step
            if not depth:
                yield _Leak(opener.start(), tag.end(), stray=False)
                opener = None
    if opener is not None:
        yield _Leak(opener.start(), len(text), stray=False)


def _tags(text: str) -> Iterator[re.Match[str]]:
    """Yield the tags that no pair of back-tick runs encloses."""
    tokens = list(_TOKEN.finditer(text))
    partner = _partners(tokens)
    index = 0
    while index < len(tokens):
        if tokens[index]["name"]:
            yield tokens[index]
        index = partner.get(index, index) + 1


def _partners(tokens: Sequence[re.Match[str]]) -> dict[int, int]:
    """Map each run of back-ticks to the next run that could close it."""
    partner: dict[int, int] = {}
    next_run: dict[int, int] = {}
    for index in reversed(range(len(tokens))):
        if tokens[index]["line"]:
            for length in _ONE_LINE_RUNS:
                next_run.pop(length, None)
        elif ticks := tokens[index]["ticks"]:
            if len(ticks) in next_run:
                partner[index] = next_run[len(ticks)]
            next_run[len(ticks)] = index
    return partner


class _Rest:
    """What stays, joined so that pieces from both sides of a cut never read as one tag or one mention."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._stray = self._lines = self._ticks_in_line = False

    def cut(self, *, stray: bool, lines: bool) -> None:
        self._stray |= stray
        self._lines |= lines

    def keep(self, piece: str) -> None:
        before = self.pieces[-1] if self.pieces else ""
        if before.endswith((*_BLANKS, "\n")):
            piece = piece.lstrip(_BLANKS)
        if not piece:
            return
        joined = self._joint(before, piece) + piece
        self._ticks_in_line = "`" in joined[joined.rfind("\n") + 1 :] or (
            self._ticks_in_line and "\n" not in joined
        )
        self._stray = self._lines = False
        self.pieces.append(joined)

    def _joint(self, before: str, after: str) -> str:
        if self._would_read_together(before, after):
            return "\n"
        between_words = before[-1:].isalnum() and after[0].isalnum()
        return " " if self._stray and between_words else ""

    def _would_read_together(self, before: str, after: str) -> bool:
        return (
            _BEGUN_TAG.match(before, before.rfind("<")) is not None
            or (before.endswith("`") and after.startswith("`"))
            or (self._lines and self._ticks_in_line)
        )
