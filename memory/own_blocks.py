"""Take out of a text what this console itself put in front of a model. No Django, no clock, no file.

A block runs from its opening tag to the closer that balances it, or else to the end of the text. Tags are
read in any letter case and with blanks inside. A closer without its opener is taken out alone. Back-ticks
protect nothing here: a quoted projection is as much of an echo as a bare one. The work is linear in the
length of the text.
"""

import re
from collections.abc import Iterator

NAMES = ("injected_memory", "available_skills", "working_state")

_TAG = re.compile(rf"<\s*+(?P<slash>/?)\s*+(?P<name>{'|'.join(NAMES)})\s*+>", re.IGNORECASE | re.ASCII)

_BEGUN_TAG = re.compile(r"<\s*+/?\s*+[a-z_]{0,16}\s*+\Z", re.IGNORECASE | re.ASCII)


def strip_own_blocks(text: str) -> str:
    """Return the text without our blocks: itself where it holds none."""
    cuts = list(_cuts(text))
    if not cuts:
        return text
    kept: list[str] = []
    position = 0
    for start, end in [*cuts, (len(text), len(text))]:
        piece = text[position:start]
        if kept and piece and _BEGUN_TAG.search(kept[-1], max(kept[-1].rfind("<"), 0)):
            piece = f"…{piece}"  # so that the two sides of a cut never read as one tag
        if piece:
            kept.append(piece)
        position = end
    return "".join(kept).strip()


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    opener: re.Match[str] | None = None
    depth = 0
    for tag in _TAG.finditer(text):
        if opener is None and tag["slash"]:
            yield tag.span()
        elif opener is None:
            opener, depth = tag, 1
        elif tag["name"].lower() == opener["name"].lower():
            depth += -1 if tag["slash"] else 1
            if not depth:
                yield opener.start(), tag.end()
                opener = None
    if opener is not None:
        yield opener.start(), len(text)
