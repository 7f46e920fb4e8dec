"""Read characters as a hasty reader would: wide, mathematical and foreign letters as the plain ones.

Folding keeps the length of a text, so that a position in the folded text is one in the text itself.
"""

from unicodedata import category, combining, normalize

from knowledge.text import segments

IGNORED = "\u200b"  # stands for each character that a reader would not see, and for accents

_MOST_REMEMBERED = 20_000
_SHOWN_BLANKS = "⏎⇥"

_READ_AS = {
    alike: plain
    for plain, many in {
        "<": "‹〈⟨❮❬❰˂ᐸ«《⟪≺⧼⦉⦑⪡≪⟦",
        ">": "›〉⟩❯❭❱˃ᐳ»》⟫≻⧽⦊⦒⪢≫⟧",
        "·": "∙⋅・‧᛫ꞏ",
        "*": "•‣◦▪●⁃∗",
        "-": "‐‑‒–—―−⁻➖",
        ":": "∶꞉ː˸։",
        "a": "аɑα",
        "c": "сϲ",
        "d": "ԁ",
        "e": "еҽε",
        "g": "ɡց",
        "h": "һ",
        "i": "іıιɩ",
        "j": "јȷ",
        "k": "кκ",
        "l": "ӏ",
        "m": "м",
        "n": "ոη",
        "o": "оοօ",
        "p": "рρ",
        "r": "г",
        "s": "ѕꜱ",
        "t": "тτ",
        "u": "υս",
        "v": "ѵν",
        "w": "ԝω",
        "y": "уγү",
    }.items()
    for alike in many
}


class _Folding(dict[int, int]):
    """A table for `str.translate` that fills itself with the characters that it meets."""

    def __missing__(self, code: int) -> int:
        folded = ord(_fold(chr(code)))
        if len(self) < _MOST_REMEMBERED:
            self[code] = folded
        return folded


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Return a text of the same length in small plain letters, with blanks as spaces."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def _fold(char: str) -> str:
    if char.isspace() or char in _SHOWN_BLANKS:
        return " "
    if category(char) in ("Mn", "Me") or any(hidden for hidden, _ in segments(char)):
        return IGNORED
    bases = [base for base in normalize("NFKD", char) if not combining(base)]
    plain = bases[0].lower() if len(bases) == 1 else char
    return _READ_AS.get(plain, plain if len(plain) == 1 else char)
