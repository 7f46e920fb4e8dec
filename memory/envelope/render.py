"""Write a projection: one line an entry, every foreign text escaped."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from knowledge.reasoning import strip_reasoning
from memory.envelope.escape import cut, escape, label
from memory.envelope.frames import ENVELOPE, FRAMES, INSIDE, OUTSIDE, SEPARATOR, UNKNOWN_DAY
from memory.types import MemoryCandidate, Part, PlaybookCandidate, SessionCandidate

Lines = Mapping[Part, Sequence[str]]

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_PLAYBOOKS_REMEMBERED = 4_096


def render(lines: Lines) -> str:
    """Join the lines of all parts into the text for the model; no lines give the empty text."""
    inside = [line for part in INSIDE for line in FRAMES[part].around(lines[part])]
    outside = [line for part in OUTSIDE for line in FRAMES[part].around(lines[part])]
    return "\n".join([*ENVELOPE.around(inside), *outside])


def session_line(session: SessionCandidate) -> str:
    """Write `id · timestamp · surface · topic · N msgs`."""
    fields = (session.session_id, session.timestamp, session.surface)
    topic = spoken(session.topic) or "(no topic)"
    return SEPARATOR.join([*map(label, fields), topic, f"{session.messages} msgs"])


def always_on_words(row: MemoryCandidate) -> str:
    """Return the words of an always-on row as stored, which are what its budget counts: `[heading] content`."""
    heading, content = strip_reasoning(row.heading or ""), strip_reasoning(row.content)
    return f"[{heading}] {content}" if heading else content


def always_on_line(row: MemoryCandidate, words: str) -> str:
    return _memory_line("*", row, escape(words))


def hit_line(row: MemoryCandidate, preview_chars: int) -> str:
    """Write `- [domain] preview (stored YYYY-MM-DD; trust: label)`."""
    return _memory_line("-", row, preview(row.heading, row.content, preview_chars))


def preview(heading: str | None, content: str, most_chars: int) -> str:
    """Return `heading: content` without leaked reasoning, escaped, in at most so many characters."""
    title, body = strip_reasoning(heading or ""), strip_reasoning(content)
    text = f"{title}: {body}" if title else body
    start = text[: 2 * most_chars + 2]  # an escape shortens a text by half at most where it is ordinary
    more = "" if len(start) == len(text) else "…"
    return cut(escape(start) + more, most_chars)


def spoken(text: str) -> str:
    """Return a free text as it may stand in a projection, without leaked reasoning."""
    return escape(strip_reasoning(text))


@lru_cache(_PLAYBOOKS_REMEMBERED)
def playbook_line(playbook: PlaybookCandidate, *, described: bool) -> str:
    """Write `- name [/slash] · description`, or only the name with its command."""
    name = f"- {label(playbook.name.strip() or '(no name)')}"
    if command := playbook.slash.lstrip("/"):
        name += f" [/{label(command)}]"
    description = spoken(playbook.description) if described else ""
    return f"{name}{SEPARATOR}{description}" if description else name


def _memory_line(bullet: str, row: MemoryCandidate, words: str) -> str:
    day = row.stored if _DAY.fullmatch(row.stored) else UNKNOWN_DAY
    return f"{bullet} [{label(row.domain)}] {words} (stored {day}; trust: {row.tier.label})"
