"""What a model was told, beside what has become of it: joins the injection log with the knowledge store."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from knowledge import queries
from knowledge.times import parse_iso
from knowledge.types import Chunk, State, Verdict
from memory import session_index
from memory.envelope.frames import ENVELOPE
from memory.injections import queries as log
from memory.injections.errors import TextDamaged
from memory.injections.types import Item, Turn, TurnDetail
from memory.types import LeftOut, Part, Reason, Ref
from protoconsole.actors import Actor

MEMORY_PARTS = (Part.ALWAYS_ON, Part.HITS)
OPEN_UP_TO = 12
LEFT_OUT_SHOWN = 40


class Since(StrEnum):
    """What became of a row after it had been delivered."""

    REJECTED = "rejected"
    EDITED = "edited"
    EXPIRED = "expired"
    DELETED = "deleted"
    CONFIRMED = "confirmed"


@dataclass(frozen=True, slots=True)
class Entry:
    """A delivered entry as it was then, the row as it is now where it still exists, and what happened.

    `present` says whether the row or the session is still there; other entries have no page.
    """

    item: Item
    chunk: Chunk | None
    since: Sequence[Since]
    present: bool

    @property
    def is_chunk(self) -> bool:
        return self.item.part in MEMORY_PARTS


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring lines of a text that belong to one part, None for the envelope around them."""

    part: Part | None
    opening: str
    entries: Sequence[Entry]
    closing: str

    @property
    def chars(self) -> int:
        lines = [self.opening, *(entry.item.words or "" for entry in self.entries), self.closing]
        return len("\n".join(line for line in lines if line))

    @property
    def unfolded(self) -> bool:
        return 0 < len(self.entries) <= OPEN_UP_TO


@dataclass(frozen=True, slots=True)
class LeftOutGroup:
    """Candidates of one part that stayed out for one reason; `more` are not listed."""

    part: Part
    reason: Reason
    refs: Sequence[Ref]
    count: int

    @property
    def more(self) -> int:
        return self.count - len(self.refs)


@dataclass(frozen=True, slots=True)
class Replay:
    """A turn with its text, each entry beside its row as it is now.

    `has_summary` says whether its session has a page; `damage` why the text cannot be shown.
    """

    detail: TurnDetail
    blocks: Sequence[Block]
    left_out: Sequence[LeftOutGroup]
    has_summary: bool
    damage: str = ""

    @property
    def turn(self) -> Turn:
        return self.detail.turn

    @property
    def untold(self) -> int:
        """How many candidates stayed out that the log does not name."""
        return self.detail.left_out_total - len(self.detail.left_out)


def replay(injection_id: int, by: Actor) -> Replay:
    """Read a turn. Raises NotFound."""
    try:
        detail, text = log.turn_and_text(injection_id)
    except TextDamaged as error:
        # What its row says by itself is all that can be shown.
        return _replayed(log.outline(injection_id), "", by, damage=str(error))
    return _replayed(detail, text, by)


def _replayed(detail: TurnDetail, text: str, by: Actor, damage: str = "") -> Replay:
    session_index.sync()
    entries = entries_of(detail.items, detail.turn.ts, by)
    return Replay(
        detail,
        laid_out(text, entries) if text else by_part(entries),
        left_out_groups(detail.left_out),
        bool(session_index.present([detail.turn.session_id])),
        damage,
    )


def entries_of(items: Sequence[Item], ts: str, by: Actor) -> list[Entry]:
    """Put each entry of a turn of that time beside its row as it is now."""
    refs = [item.ref for item in items if item.part in MEMORY_PARTS]
    rows = {ref: row for ref, row in rows_now(refs, by).items() if not _is_another(row, ts)}
    told_of = session_index.present(str(item.ref) for item in items if item.part is Part.PRIOR_SESSIONS)
    return [
        _told_of(item, told_of) if item.part is Part.PRIOR_SESSIONS else _of_row(item, rows) for item in items
    ]


def rows_now(refs: Iterable[Ref], by: Actor) -> Mapping[Ref, Chunk]:
    """Read the rows of the own store that still exist."""
    return {row.id: row for row in queries.by_ids([ref for ref in refs if isinstance(ref, int)], by)}


def laid_out(text: str, entries: Sequence[Entry]) -> list[Block]:
    """Part a text as it stands into blocks; entries that are no line of it come last, by part."""
    waiting: dict[str, list[Entry]] = {}
    for entry in reversed(entries):
        waiting.setdefault(entry.item.words or "", []).append(entry)
    blocks = [_block(lines) for lines in _parted(text, waiting)] if text else []
    beside = [entry for entry in entries if entry in waiting.get(entry.item.words or "", ())]
    return [*blocks, *by_part(beside)]


def by_part(entries: Iterable[Entry]) -> list[Block]:
    """Make blocks without the lines around the entries, which nobody kept."""
    return [
        Block(part, "", list(group), "") for part, group in groupby(entries, lambda entry: entry.item.part)
    ]


def left_out_groups(candidates: Iterable[LeftOut]) -> list[LeftOutGroup]:
    """Gather what stayed out by part and reason, in the order of its first appearance."""
    groups: dict[tuple[Part, Reason], list[Ref]] = {}
    for one in candidates:
        groups.setdefault((one.part, one.reason), []).append(one.ref)
    return [
        LeftOutGroup(part, reason, refs[:LEFT_OUT_SHOWN], len(refs))
        for (part, reason), refs in groups.items()
    ]


_Line = Entry | str


def _parted(text: str, waiting: Mapping[str, list[Entry]]) -> Iterator[list[_Line]]:
    """Cut the lines where a part ends: before the lines that open the next one, and around the envelope."""
    block: list[_Line] = []
    for line in text.split("\n"):
        read = _read(line, waiting)
        if block and _begins_anew(block, read):
            yield block
            block = []
        block.append(read)
    yield block


def _read(line: str, waiting: Mapping[str, list[Entry]]) -> _Line:
    entries = waiting.get(line)
    return entries.pop() if entries else line


def _begins_anew(block: Sequence[_Line], line: _Line) -> bool:
    last = block[-1]
    if _is_envelope(line) or _is_envelope(last):
        return not (_is_envelope(line) and _is_envelope(last))
    if isinstance(line, Entry):
        return isinstance(last, Entry) and last.item.part is not line.item.part
    return any(isinstance(each, Entry) for each in block) and not line.startswith("</")


def _is_envelope(line: _Line) -> bool:
    return isinstance(line, str) and line in ENVELOPE.opening + ENVELOPE.closing


def _block(lines: Sequence[_Line]) -> Block:
    entries = [line for line in lines if isinstance(line, Entry)]
    first = next((n for n, line in enumerate(lines) if isinstance(line, Entry)), len(lines))
    around = [
        "\n".join(line for line in part if isinstance(line, str)) for part in (lines[:first], lines[first:])
    ]
    return Block(entries[0].item.part if entries else None, around[0], entries, around[1])


def _told_of(item: Item, present: Collection[str]) -> Entry:
    there = item.ref in present
    return Entry(item, None, [] if there else [Since.DELETED], there)


def _of_row(item: Item, rows: Mapping[Ref, Chunk]) -> Entry:
    row = rows.get(item.ref) if item.part in MEMORY_PARTS else None
    return Entry(item, row, _since(item, row), row is not None)


def _is_another(row: Chunk, ts: str) -> bool:
    """Tell a row that was stored after the turn: it has the number of the one that was delivered, no more."""
    stored, told = parse_iso(row.created_at), parse_iso(ts)
    return stored is not None and told is not None and stored > told


def _since(item: Item, row: Chunk | None) -> list[Since]:
    if item.part not in MEMORY_PARTS or not isinstance(item.ref, int):
        return []
    if row is None or row.state is State.DELETED:
        return [Since.DELETED]
    happened = {
        Since.REJECTED: row.review_state is Verdict.REJECTED and item.verdict is not Verdict.REJECTED,
        Since.EDITED: row.state is State.SUPERSEDED,
        Since.EXPIRED: row.expired,
        Since.CONFIRMED: row.state is State.CONFIRMED and item.verdict is Verdict.PENDING,
    }
    return [since for since, holds in happened.items() if holds]
