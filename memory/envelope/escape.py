"""Make any text harmless inside a projection, and leave it as readable as it was.

A text is one line afterwards, shows what it hid, and holds nothing that reads as a part of the projection:
no tag of ours and no comment, no label, no beginning of an entry, no separator. An escaped text is its own
escape, which is how the parser tells a text that went through here.

The table of replacements:

| in the text | becomes |
|---|---|
| a line break, a tab | `⏎`, `⇥` |
| an invisible or direction-changing character | its name: `⟨RLO⟩` |
| the `<` or `>` of one of our tags or of a comment, however written | `⟦`, `⟧` |
| `(stored`, `trust:` | `(\\stored`, `trust\\:` |
| `- [`, `* [`, `GOAL [` and the like | `- \\[`, `* \\[`, `GOAL \\[` |
| ` · ` | ` \\· ` |
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from knowledge.text import mark_name, segments
from memory.envelope.look_alikes import IGNORED, fold

_LONGEST_REMEMBERED = 2_000
_MOST_REMEMBERED = 4_096

_UNSEEN = rf"{IGNORED}\x00-\x08\x0e-\x1b\x7f"  # and no blank, so that no run of both is read in two ways
_Z = f"[{_UNSEEN}]*+"
_W = rf"[\s{_UNSEEN}]*+"
_BLANKS = rf"{_Z}\s{_W}"


def _spelled(*words: str) -> str:
    """Match one of the words, with unseen characters between the letters, any blank for `_`."""
    return "|".join(_Z.join(rf"[\s_\-{_UNSEEN}]*+" if c == "_" else c for c in word) for word in words)


def _bracket(char: str, entity: str, code: str) -> str:
    """Match a bracket as itself, as an HTML entity or as an escape of JSON, JavaScript or an address."""
    number = int(code, 16)
    return rf"(?:{char}|&(?:amp;)*(?:{entity}|#0*+{number}|#x0*+{code});?|\\(?:u00|x){code}|%{code})"


_OPEN = _bracket("<", "lt", "3c")
_SHUT = _bracket(">", "gt", "3e")
_TAG = f"(?:{_spelled('injected_memory', 'prior_sessions', 'available_skills', 'working_state', 'skill')})(?![a-z0-9])"
_NO_WORD = "[^a-z<>&]*"
_SPOT = re.compile(
    rf"(?P<open>{_OPEN})(?={_NO_WORD}+{_TAG}|{_W}!{_W}-{_W}-)"
    rf"|-{_W}-{_W}!?{_W}(?P<shut>{_SHUT})"
    rf"|(?P<before>(?<!\\)(?:(?<!\S)·|·(?!\S)))"
    rf"|(?P<after>\((?={_W}(?:{_spelled('stored')}))"
    rf"|(?:{_spelled('trust')}){_W}(?=:)"
    rf"|(?:[-*]|{_spelled('goal', 'plan', 'task', 'watch', 'schedule')}){_BLANKS}(?=\[))"
)
_SUSPECT = re.compile(r"[<>&%\\(\[:]")  # no spot of plain ASCII does without one of these
_TAG_END = re.compile(rf"{_TAG}{_NO_WORD}?(?P<shut>{_SHUT})")
_MARKS = {"open": "⟦", "shut": "⟧", "before": "\\", "after": "\\"}
_LABEL_BRACKETS = str.maketrans("[]<>", "⟦⟧⟦⟧")
_LINE_BREAKS = frozenset("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
_MARK_CUT_SHORT = re.compile(r"⟨[A-Z0-9+]{0,7}$")

_Edit = tuple[int, int, str]


def escape(text: str) -> str:
    """Return the text as it may stand in a projection."""
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _escape(text)


def forget() -> None:
    """Drop the remembered escapes."""
    _remembered.cache_clear()


def label(text: str) -> str:
    """Return a short text as it may stand inside the brackets of an entry, or between its separators."""
    return escape(text.translate(_LABEL_BRACKETS))


def cut(escaped: str, most_chars: int) -> str:
    """Shorten an escaped text to so many characters, the mark of the cut among them.

    A cut may end a word so that it reads as one of our tags: then it is escaped, and a little less is kept.
    """
    if len(escaped) <= most_chars:
        return escaped
    shown = f"{_whole(escaped[: most_chars - 1])}…"
    safe = escape(shown)
    return safe if len(safe) <= most_chars else cut(safe, most_chars)


def _whole(start: str) -> str:
    """Drop what a cut left incomplete at the end: blanks, half a mark, a joiner that joins nothing now."""
    start = _MARK_CUT_SHORT.sub("", start.rstrip())
    parts = list(segments(start))
    return start[:-1].rstrip() if parts and parts[-1][0] else start


def _escape(text: str) -> str:
    return _show(_disarm(text))


_remembered = lru_cache(_MOST_REMEMBERED)(_escape)


def _disarm(text: str) -> str:
    edits = [] if text.isascii() and not _SUSPECT.search(text) else _edits(fold(text))
    if not edits:
        return text
    pieces, position = [], 0
    for start, end, mark in edits:
        pieces += [text[position:start], mark]
        position = end
    return "".join([*pieces, text[position:]])


def _edits(folded: str) -> list[_Edit]:
    spots = list(_SPOT.finditer(folded))
    edits = {_edit(spot) for spot in spots}
    if any(spot["open"] for spot in spots):
        edits |= {_edit(end) for end in _TAG_END.finditer(folded)}
    return sorted(edits)


def _edit(spot: re.Match[str]) -> _Edit:
    """Tell which stretch gives way to which mark; an empty stretch is a place to insert one."""
    kind = str(spot.lastgroup)
    start, end = spot.span(kind)
    at = {"before": (start, start), "after": (end, end)}.get(kind, (start, end))
    return (*at, _MARKS[kind])


def _show(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(text))


def _shown(text: str) -> Iterator[str]:
    for hidden, part in segments(text):
        if not hidden:
            yield part.replace("\r\n", "⏎").replace("\n", "⏎").replace("\t", "⇥")
        else:
            yield "⏎" if part in _LINE_BREAKS else f"⟨{mark_name(part)}⟩"
