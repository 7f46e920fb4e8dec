"""Memory as one line an entry, for a model to read. No Django, no clock, no file.

A line is `#id [domain] [superseded …] (stored date; trust: label; src: source) text`. Nothing that comes
from memory can end a line, hide characters, or read as another entry's label.
"""

import re

from knowledge.text import mark_name, segments
from knowledge.times import parse_iso
from knowledge.types import Chunk, State, Verdict

_LINE_BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Each way to write the opening of a label, also in wide letters and with blanks between.
_LABEL = re.compile(
    r"(?P<open>[(\uff08\ufe59\u207d\u208d])(?=\s*stored)"
    r"|(?P<bracket>[\[\uff3b])(?=\s*superseded)"
    r"|(?P<name>\b(?:trust|src|expires))(?=\s*[:=\uff1a\ufe55\ufe13\u02d0\ua789\uff1d])"
    r"|(?P<id>[#\uff03\ufe5f])(?=\s*\d+\s*[\[\uff3b])",
    re.IGNORECASE,
)
_STRUCTURE = re.compile(r"[\\\[\]();]")


def entry(chunk: Chunk, most_chars: int, *, with_state: bool = False) -> str:
    """Write a row as one line that shows at most so many characters of its text."""
    facts = [f"stored {_day(chunk.created_at) or 'at an unknown time'}", f"trust: {chunk.trust}"]
    if with_state:
        facts += _state(chunk)
    facts.append(f"src: {field(chunk.source) if chunk.source else 'none'}")
    labels = [f"#{chunk.id}", f"[{field(chunk.domain)}]", _superseded(chunk), f"({'; '.join(facts)})"]
    return " ".join([*filter(None, labels), _text(chunk, most_chars)])


def field(text: str) -> str:
    """Write a short value so that it cannot end the label that it stands in."""
    return _STRUCTURE.sub(r"\\\g<0>", line(text))


def line(text: str) -> str:
    """Write any text on one line with nothing hidden in it and no label that it made up."""
    shown = "".join(
        f"⟨{mark_name(part)}⟩" if hidden else part for hidden, part in segments(_LINE_BREAK.sub("⏎", text))
    )
    return _LABEL.sub(r"\g<0>\\", shown)


def _text(chunk: Chunk, most_chars: int) -> str:
    text = f"{chunk.heading}: {chunk.content}" if chunk.heading else chunk.content
    if len(text) <= most_chars:
        return line(text)
    return f"{line(text[:most_chars])}… ({len(text):,} characters in all)"


def _superseded(chunk: Chunk) -> str:
    if chunk.state is not State.SUPERSEDED:
        return ""
    return f"[superseded by #{chunk.superseded_by}]" if chunk.superseded_by else "[superseded]"


def _state(chunk: Chunk) -> list[str]:
    verdict = "confirmed" if chunk.review_state is Verdict.CONFIRMED else "pending"
    expiry = _day(chunk.expires_at)
    return [verdict, *([f"expires={expiry}"] if expiry else []), *(["expired"] if chunk.expired else [])]


def _day(moment: str | None) -> str | None:
    read = parse_iso(moment)
    return read.date().isoformat() if read else None
