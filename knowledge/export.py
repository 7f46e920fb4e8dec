"""Rows as JSON lines and as CSV: every column, the trust and the validity of each.

JSON lines hold the text exactly, one row a line. CSV is for spreadsheets: a byte order mark comes first, so
that they read it as UTF-8, lines end as RFC 4180 says, and a cell that a spreadsheet would take for a
formula gets an apostrophe in front: one that begins with a tab or a line end, or whose first visible
character is = + - @ in any of its widths.
"""

import csv
import json
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from knowledge import queries
from knowledge.rows import COLUMNS
from knowledge.types import MAX_PAGE, Chunk, ChunkQuery
from protoconsole.actors import Actor

FIELDS = (*COLUMNS, "trust", "valid")
BYTE_ORDER_MARK = "\ufeff"
_BROKEN_STARTS = ("\t", "\r", "\n")
_FORMULA_SIGNS = frozenset("=+-@")
# JSON allows these inside a string, but many readers of lines take them for the end of one.
_LINE_ENDS = {ord(char): f"\\u{ord(char):04x}" for char in "\x85\u2028\u2029"}


def matching(query: ChunkQuery, by: Actor) -> Iterator[Chunk]:
    """Give all rows that match the filters, newest first; of a ranked text its best 200 hits, best first.

    The first rows are read at once, so that what is wrong with the query is raised here.
    """
    if query.text.strip():
        return iter([hit.chunk for hit in queries.search(query, by, k=MAX_PAGE).hits])
    batches = _batches(query, by)
    return chain.from_iterable(chain([next(batches)], batches))


def as_json_lines(chunks: Iterable[Chunk]) -> Iterator[str]:
    """Write one JSON object a line."""
    for chunk in chunks:
        yield json.dumps(values_of(chunk), ensure_ascii=False).translate(_LINE_ENDS) + "\n"


def as_csv(chunks: Iterable[Chunk]) -> Iterator[str]:
    """Write a line of names and one line a row."""
    line = csv.writer(_Echo())
    yield BYTE_ORDER_MARK + line.writerow(FIELDS)
    for chunk in chunks:
        yield line.writerow([_cell(value) for value in values_of(chunk).values()])


def values_of(chunk: Chunk) -> dict[str, Any]:
    """Give the exported values of a row by name."""
    return {name: getattr(chunk, name) for name in FIELDS}


def _batches(query: ChunkQuery, by: Actor) -> Iterator[list[Chunk]]:
    cursor: str | None = None
    while True:
        page = queries.browse(query, by, cursor=cursor, limit=MAX_PAGE)
        yield list(page.items)
        if page.next is None:
            return
        cursor = page.next


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    visible = (char for char in text if not char.isspace() and unicodedata.category(char) not in ("Cc", "Cf"))
    sign = unicodedata.normalize("NFKC", next(visible, ""))  # spreadsheets take the wide forms too
    return text.startswith(_BROKEN_STARTS) or sign in _FORMULA_SIGNS


class _Echo:
    """Gives each line back instead of keeping it."""

    def write(self, line: str) -> str:
        return line
