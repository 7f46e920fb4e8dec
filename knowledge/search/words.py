"""Turn text into the words of the keyword index, into queries over it, and into previews of what matched.

Text and query go through one analysis: compatibility forms and letter case are folded, accents that a
searcher may leave out are dropped, everything but letters, digits and vowel signs separates. Scripts
written without spaces are cut into single characters and overlapping pairs. Stop words are left out of a
text that has any other word, and of a query likewise: so `the who` finds a heading "The Who" and no more.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from knowledge.search.stop_words import STOP_WORDS
from knowledge.text import clean_query
from knowledge.types import MARK_CLOSE, MARK_OPEN

TOKENIZER = "porter unicode61 remove_diacritics 2"
MAX_WORD_CHARS = 64

# Thai, Lao, Myanmar, Khmer, Han with its iteration marks, kana in both widths, Hangul syllables.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff"
    "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
    "\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f\uac00-\ud7a3"
)

# What stands between the letters of one word and is not seen.
_JOINERS = [0xAD, 0x34F, 0x61C, *range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]
_JOINERS += [*range(0xFE00, 0xFE10), 0xFEFF]

# unicode61 splits words at marks and at these letters. Private-use characters it keeps, so a mark that
# makes another word of the same letters is put there.
_LETTERS_IT_SPLITS_AT = [*range(0x19B0, 0x19CA), 0x1CF2, 0x1CF3]
_SHIFT = 0xF0000
_SHIFTED = f"{chr(_SHIFT + 0x300)}-{chr(_SHIFT + 0xFFFF)}"
_MARKS = [code for code in range(0x300, 0x10000) if unicodedata.category(chr(code)).startswith("M")]


def _can_be_left_out(mark: int) -> bool:
    """Tell accents, strokes, Hebrew points and Arabic vowels from the signs that Indic words need."""
    place = unicodedata.combining(chr(mark))
    return place == 1 or 10 <= place <= 36 or place >= 200 or unicodedata.category(chr(mark)) == "Me"


def _ranges(codes: Sequence[int]) -> str:
    """Write ascending code points for a character class, neighbours as a range."""
    starts = [code for before, code in pairwise([-1, *codes]) if code != before + 1]
    ends = [code for code, after in pairwise([*codes, -1]) if after != code + 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))


_FOLD: dict[int, int | None] = {
    **{code: _SHIFT + code for code in (*_MARKS, *_LETTERS_IT_SPLITS_AT)},
    **{code: None for code in _MARKS if _can_be_left_out(code)},
    **dict.fromkeys(_JOINERS),
}


def _pieces(marks: str) -> re.Pattern[str]:
    """Compile a pattern that finds runs of unspaced script and other words, given what marks look like."""
    letter = f"(?![{_UNSPACED}])[^\\W_]"
    return re.compile(f"(?P<run>(?:(?=[^\\W_])[{_UNSPACED}][{marks}]*)+)|(?:{letter}|[{marks}])+")


_RAW = _ranges(_MARKS) + _ranges(_JOINERS)
_PIECE, _CLUSTER = _pieces(_SHIFTED), re.compile(f".[{_SHIFTED}]*")
_RAW_PIECE, _RAW_CLUSTER = _pieces(_RAW), re.compile(f".[{_RAW}]*")


def index_text(text: str) -> str:
    """Return what the index holds for a text: words between spaces, for `TOKENIZER`."""
    return " ".join(_telling(_words(text, singles=True)))


def query_words(text: str, limit: int = 48) -> list[str]:
    """Return the first words of a query as the index spells them; repeated words stay, they weigh."""
    return _telling(_words(text, singles=False))[:limit]


def match_expression(words: Iterable[str]) -> str:
    """Return the MATCH expression that finds any of the words, '' where there are none."""
    quoted = (clean_query(word).replace('"', '""') for word in words)
    return " OR ".join(f'"{word}"' for word in quoted if word)


def _telling(words: Iterable[str]) -> list[str]:
    everything = list(words)
    return [word for word in everything if word not in STOP_WORDS] or everything


def _words(text: str, *, singles: bool) -> Iterator[str]:
    for piece in _PIECE.finditer(folded(text)):
        if piece["run"]:
            yield from _cut(_CLUSTER.findall(piece["run"]), singles=singles)
        else:
            yield piece[0][:MAX_WORD_CHARS]


def _cut(clusters: Sequence[str], *, singles: bool) -> Iterator[str]:
    if singles or len(clusters) == 1:
        yield from (cluster[:MAX_WORD_CHARS] for cluster in clusters)
    yield from ((left + right)[:MAX_WORD_CHARS] for left, right in pairwise(clusters))


def folded(text: str) -> str:
    """Return a text as words are compared: without letter case, widths and what no tokenizer keeps."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", folded).translate(_FOLD)


class _Span(NamedTuple):
    start: int
    end: int
    key: str


def snippet(text: str, query_words: Iterable[str], width: int = 300) -> str:
    """Return the part of a text with most of the query's words, each between MARK_OPEN and MARK_CLOSE.

    It shows at most `width` characters, the marks not counted; `…` stands where the text goes on.
    """
    text = text.replace(MARK_OPEN, "").replace(MARK_CLOSE, "")
    found = list(_found(text, {form for word in query_words for form in (word, _key(word))}))
    start, end = _window(text, found, width)
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return before + _marked(text, start, end, found) + after


def _found(text: str, keys: Collection[str]) -> Iterator[_Span]:
    """Find the words of a text that a query may have meant: by stem, in unspaced scripts by character."""
    for piece in _RAW_PIECE.finditer(text):
        if piece["run"]:
            yield from _found_in_run(piece["run"], piece.start(), keys)
        elif (key := _key_of_raw(piece[0][:MAX_WORD_CHARS])) in keys:
            yield _Span(piece.start(), piece.end(), key)


def _found_in_run(run: str, offset: int, keys: Collection[str]) -> Iterator[_Span]:
    clusters = list(_RAW_CLUSTER.finditer(run))
    spelled = _CLUSTER.findall(folded(run))
    if len(spelled) != len(clusters):  # half-width kana fold two characters into one
        spelled = [folded(cluster[0]) for cluster in clusters]
    for index, (cluster, char) in enumerate(zip(clusters, spelled, strict=True)):
        if char in keys:
            yield _Span(offset + cluster.start(), offset + cluster.end(), char)
        pair = "".join(spelled[index : index + 2])
        if pair != char and pair in keys:
            yield _Span(offset + cluster.start(), offset + clusters[index + 1].end(), pair)


_ENDING = re.compile(r"(?<=[^\W\d_]{3})(?:ations?|ings?|i?ed|i?es|ers?|ly|[sey])\Z")
_DOUBLED = re.compile(r"(?<=[^\W\d_]{2})([b-df-hj-np-tv-z])\1\Z")


def _key(word: str) -> str:
    """Return a rough stem without accents; for a preview it is near enough to the stem of the index."""
    bare = word if word.isascii() else unicodedata.normalize("NFKD", word).translate(_FOLD)
    return _DOUBLED.sub(r"\1", _ENDING.sub("", bare))


@lru_cache(maxsize=8192)
def _key_of_raw(word: str) -> str:
    return _key(folded(word)[:MAX_WORD_CHARS])


def _window(text: str, found: Sequence[_Span], width: int) -> tuple[int, int]:
    if len(text) <= width:
        return 0, len(text)
    room = max(width - 2, 1)
    first, last = _densest([span for span in found if span.end - span.start <= room], room)
    start = max(0, min(first - (room - (last - first)) // 2, len(text) - room))
    return _at_blanks(text, start, start + room, first, last)


def _densest(found: Sequence[_Span], room: int) -> tuple[int, int]:
    """Return where the stretch of at most `room` characters with most different words begins and ends."""
    best, first, last = 0, 0, 0
    inside: Counter[str] = Counter()
    right = 0
    for span in found:
        while right < len(found) and found[right].end - span.start <= room:
            inside[found[right].key] += 1
            right += 1
        if len(inside) > best:
            best, first, last = len(inside), span.start, found[right - 1].end
        inside[span.key] -= 1
        if not inside[span.key]:
            del inside[span.key]
    return first, last


_MAX_TRIM = 20


def _at_blanks(text: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """Move the edges inward to a blank where one is near, so that no word is cut."""
    blank = text.find(" ", start, min(start + _MAX_TRIM, first)) if start else -1
    tail = text.rfind(" ", max(end - _MAX_TRIM, last), end) if end < len(text) else -1
    return (blank + 1 if blank >= 0 else start), (tail if tail >= 0 else end)


def _marked(text: str, start: int, end: int, found: Iterable[_Span]) -> str:
    pieces, position = [], start
    for first, last in _merged(span for span in found if start <= span.start and span.end <= end):
        pieces += [text[position:first], MARK_OPEN, text[first:last], MARK_CLOSE]
        position = last
    return "".join([*pieces, text[position:end]])


def _merged(spans: Iterable[_Span]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for span in spans:
        if merged and span.start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], span.end))
        else:
            merged.append((span.start, span.end))
    return merged
