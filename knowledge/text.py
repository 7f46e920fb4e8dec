"""What text may be stored, and which of its characters a reader could not see.

Hidden are: controls other than tab and line feed, format characters (zero widths, direction marks, tags,
the soft hyphen), line and paragraph separators, fillers that look like blanks but are letters, variation
selectors, code points that renderers ignore, and surrogates. Not hidden where a reader sees their effect:
a carriage return before a line feed, a joiner inside an emoji or between letters of a script that needs it,
a variation selector right after an emoji or a Han character. Blanks that show as blanks (no-break,
ideographic) are not hidden, nor are number signs such as U+0600, which Unicode files under format.
"""

import re
from collections.abc import Iterator

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\ud800-\udfff"
    "]"
)

_EMOJI = "[©®‼⁉™ℹ←-⇿⌀-⏿Ⓜ■-➿⤴⤵⬀-⯿〰〽㊗㊙\U0001f000-\U0001faff]"
_KEYCAP = "[#*0-9]"
_HAN = "[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_JOINING = (
    "[\u0620-\u06ff\u0700-\u07ff\u0860-\u08ff\u0900-\u109f"
    "\u1780-\u17d3\u1820-\u18aa\ufb50-\ufdff\ufe70-\ufefc]"
)
_VISIBLE_IN_PLACE = re.compile(
    "\r(?=\n)"
    f"|(?<={_EMOJI})[\ufe0e\ufe0f]"
    f"|(?<={_KEYCAP})\ufe0f(?=\u20e3)"
    f"|(?:(?<={_EMOJI})|(?<={_EMOJI}\ufe0f))\u200d(?={_EMOJI})"
    f"|(?<={_JOINING})[\u200c\u200d](?={_JOINING})"
    f"|(?<={_HAN})[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)

_NAMES = {
    "\x00": "NUL",
    "\x08": "BS",
    "\x0b": "VT",
    "\x0c": "FF",
    "\r": "CR",
    "\x1b": "ESC",
    "\x7f": "DEL",
    "\x85": "NEL",
    "\u00ad": "SHY",
    "\u034f": "CGJ",
    "\u061c": "ALM",
    "\u180e": "MVS",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u2028": "LSEP",
    "\u2029": "PSEP",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2060": "WJ",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\ufe0e": "VS15",
    "\ufe0f": "VS16",
    "\ufeff": "BOM",
}


def fault_in(text: str) -> str | None:
    """Name the first character that cannot be stored and its position from 0; None when all can."""
    fault = _UNSTORABLE.search(text)
    if fault is None:
        return None
    name = "NUL" if fault[0] == "\x00" else f"lone surrogate {_code_point(fault[0])}"
    return f"{name} at position {fault.start()}"


def clean_query(text: str) -> str:
    """Drop what `fault_in` would name."""
    return _UNSTORABLE.sub("", text)


def segments(text: str) -> Iterator[tuple[bool, str]]:
    """Cut a text into stretches that show as they are (False) and single hidden characters (True)."""
    shown_from = 0
    for hidden in _HIDDEN.finditer(text):
        if _VISIBLE_IN_PLACE.match(text, hidden.start()):
            continue
        if shown_from < hidden.start():
            yield False, text[shown_from : hidden.start()]
        yield True, hidden[0]
        shown_from = hidden.end()
    if shown_from < len(text):
        yield False, text[shown_from:]


def mark_name(char: str) -> str:
    """Return the short name of a hidden character, such as `RLO`, or else its code point."""
    return _NAMES.get(char) or _code_point(char)


def _code_point(char: str) -> str:
    return f"U+{ord(char):04X}"
