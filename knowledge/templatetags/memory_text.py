"""How memory text gets onto a page: as text, with what cannot be seen made visible.

The only place where markup is made in Python; everything that was stored passes through an escape here.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from knowledge.diffs import DiffPart
from knowledge.diffs import word_diff as diff_words
from knowledge.text import mark_name, segments
from knowledge.types import MARK_CLOSE, MARK_OPEN, AuditEntry

register = template.Library()

# A run longer than this becomes one mark, so that a text of nothing but joiners stays a small page.
MAX_RUN = 8
# Beyond this many marks in one text the label stands alone, without its explanation.
MAX_EXPLAINED = 200
MARKS = re.compile(f"([{MARK_OPEN}{MARK_CLOSE}])")


@register.filter
def memory_text(text: object) -> SafeString:
    """Escape the text and show each invisible or direction-changing character as a mark."""
    if text is None:
        return SafeString("")
    runs = [
        (hidden, "".join(part for _, part in run)) for hidden, run in groupby(segments(str(text)), _hidden)
    ]
    explain = sum(hidden for hidden, _ in runs) <= MAX_EXPLAINED
    return format_html_join("", "{}", ((_visible(run, explain) if hidden else run,) for hidden, run in runs))


@register.filter
def highlight(preview: object) -> SafeString:
    """Turn the search's marks into `<mark>`, after escaping; marks that lack their partner vanish."""
    out: list[SafeString] = []
    is_open = False
    for piece in MARKS.split(str(preview)):
        if piece == (MARK_CLOSE if is_open else MARK_OPEN):
            out.append(SafeString("</mark>" if is_open else "<mark>"))
            is_open = not is_open
        elif piece not in (MARK_OPEN, MARK_CLOSE):
            out.append(memory_text(piece))
    if is_open:
        out.append(SafeString("</mark>"))
    return mark_safe("".join(out))  # noqa: S308 — each piece was escaped above


@register.filter
def shorten(text: object, limit: int = 120) -> str:
    """Put the text on one line of at most `limit` characters."""
    line = " ".join(str(text)[: limit * 4].split()) if text is not None else ""
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


@register.filter
def reltime(stored: object, now: datetime | None = None) -> SafeString:
    """Show a stored time relative to now, with the exact one on hover; what is no time stays as it is."""
    if not stored:
        return SafeString("")
    moment = _moment(stored)
    if moment is None:
        return memory_text(stored)
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>',
        moment.isoformat(),
        moment.strftime("%Y-%m-%d %H:%M:%S"),
        _relative(moment, now or timezone.now()),
    )


@register.simple_tag
def word_diff(before: str | None, after: str | None) -> list[DiffPart]:
    """Return the stretches of the two texts that were kept, removed and added."""
    return diff_words(before or "", after or "")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of an audit line, before and after, in words."""

    name: str
    before: str
    after: str


@register.filter
def changed_fields(entry: AuditEntry) -> list[FieldChange]:
    """Return what an audit line changed, without the times that change with everything."""
    names = [*entry.before, *(name for name in entry.after if name not in entry.before)]
    return [
        FieldChange(name.replace("_", " "), _in_words(name, entry.before), _in_words(name, entry.after))
        for name in names
        if name != "updated_at" and entry.before.get(name) != entry.after.get(name)
    ]


def _in_words(name: str, row: dict[str, object]) -> str:
    value = row.get(name)
    return "none" if value in (None, "") else shorten(value, 60)


def _hidden(segment: tuple[bool, str]) -> bool:
    return segment[0]


def _visible(run: str, explain: bool) -> SafeString:
    label = " ".join(map(mark_name, run)) if len(run) <= MAX_RUN else f"{len(run):,} invisible"
    if not explain:
        return format_html("⟨{}⟩", label)
    return format_html('<span class="mark-invisible" title="{}">⟨{}⟩</span>', _names(run[:MAX_RUN]), label)


def _names(chars: Iterable[str]) -> str:
    return ", ".join(f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip() for char in chars)


def _moment(stored: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(stored))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _relative(moment: datetime, now: datetime) -> str:
    distance = abs(now - moment)
    if distance < timedelta(minutes=1):
        return "now"
    if distance >= timedelta(days=7):
        return _date(moment, now)
    return f"in {_span(distance)}" if moment > now else _span(distance)


def _span(distance: timedelta) -> str:
    if distance < timedelta(hours=1):
        return f"{distance // timedelta(minutes=1)}m"
    if distance < timedelta(days=1):
        return f"{distance // timedelta(hours=1)}h"
    return f"{distance.days}d"


def _date(moment: datetime, now: datetime) -> str:
    month = moment.strftime("%b")
    return f"{moment.day} {month}" if moment.year == now.year else f"{month} {moment.year}"
