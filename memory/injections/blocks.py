"""Takes a projection apart into documents that repeat from turn to turn, and puts them together again.

A document is a JSON list of segments that are joined by line breaks: a string is lines as they stand, a list
is a delivered entry. The words of memories are texts of their own and stand there by hash; what a whole part
repeats anyway (playbooks, working state) stands there itself. No Django, no clock, no file.
"""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

from knowledge.types import TrustTier, Verdict
from memory.injections.types import Item
from memory.types import Delivered, LeftOut, Part, Projection, Reason, Ref

LEFT_OUT_KEPT = 200
SHA_BYTES = 32
_DENSE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
MEMORY_PARTS = frozenset({Part.ALWAYS_ON, Part.HITS})
_BY_HASH = MEMORY_PARTS | {Part.PRIOR_SESSIONS}

Segment = str | list[Any]
Texts = dict[bytes, bytes]
Reader = Callable[[bytes], bytes]
Memory = tuple[Ref, int | None, str | None]  # with its tier and its source


@dataclass(frozen=True, slots=True)
class Pieces:
    """The documents of one projection by hash, in the order of its text, and every text that they need."""

    blocks: bytes  # the hashes, one behind the other
    beside: bytes | None  # delivered entries that are no line of the text
    left_out: bytes | None
    query: bytes
    texts: Mapping[bytes, bytes]


def take_apart(projection: Projection, query: str) -> Pieces:
    """Raises UnicodeEncodeError for a text with lone surrogates, which is no text."""
    texts: Texts = {}
    waiting: dict[str, deque[Delivered]] = defaultdict(deque)
    for item in projection.delivered:
        waiting[item.words].append(item)
    blocks = [_document(tuple(block)) for block in _blocks(projection.text, waiting)]
    left = tuple(item for items in waiting.values() for item in items)
    beside = [_document(left)] if left else []
    for document in (*blocks, *beside):
        texts |= document.texts
    return Pieces(
        blocks=b"".join(document.sha for document in blocks),
        beside=beside[0].sha if beside else None,
        left_out=_left_out(projection.left_out, texts),
        query=_keep(query.encode(), texts),
        texts=texts,
    )


def put_together(blocks: bytes, read: Reader) -> str:
    """Give the whole text back."""
    return "\n".join(
        segment if isinstance(segment, str) else _words(segment, read)
        for document in hashes_of(blocks)
        for segment in json.loads(read(document))
    )


def entries(blocks: bytes, beside: bytes | None, read: Reader) -> Iterator[Item]:
    """Give the delivered entries in the order of the text."""
    for document in hashes_of(blocks + (beside or b"")):
        for segment in json.loads(read(document)):
            if not isinstance(segment, str):
                yield _item(segment, read)


def left_out(document: bytes | None, read: Reader) -> tuple[list[LeftOut], int]:
    """Give what was left out as far as it is kept, and how much there was."""
    if document is None:
        return [], 0
    total, kept = json.loads(read(document))
    return [LeftOut(Part(part), ref, Reason(reason)) for part, ref, reason in kept], int(total)


def hashes_of(blocks: bytes) -> list[bytes]:
    return [blocks[at : at + SHA_BYTES] for at in range(0, len(blocks), SHA_BYTES)]


def words_named_in(document: bytes) -> list[bytes]:
    """List the hashes of the words that a document refers to."""
    return [
        bytes.fromhex(segment[7])
        for segment in json.loads(document)
        if isinstance(segment, list) and segment[7]
    ]


def memories_in(document: bytes) -> list[Memory]:
    """List the chunks that a document delivers, as what they stood there."""
    return [
        (ref, tier, source)
        for part, ref, _, _, tier, _, source, *_ in filter(_is_entry, json.loads(document))
        if part in MEMORY_PARTS
    ]


def _is_entry(segment: Segment) -> bool:
    return not isinstance(segment, str)


def _blocks(text: str, waiting: Mapping[str, deque[Delivered]]) -> Iterator[list[Delivered | str]]:
    """Part the text where what follows is likely to repeat by itself: before tags and between parts."""
    block: list[Delivered | str] = []
    part: Part | None = None
    for line in text.split("\n"):
        item = waiting[line].popleft() if waiting.get(line) else None
        if block and (line.startswith("<") or (item is not None and item.part is not part)):
            yield block
            block = []
        if item is not None:
            part = item.part
            block.append(item)
        elif block and isinstance(block[-1], str):
            block[-1] = f"{block[-1]}\n{line}"
        else:
            block.append(line)
    yield block


@dataclass(frozen=True, slots=True)
class _Document:
    sha: bytes
    texts: Mapping[bytes, bytes]


@lru_cache(maxsize=64)  # most parts are the same from turn to turn
def _document(block: tuple[Delivered | str, ...]) -> _Document:
    texts: Texts = {}
    segments = [_entry(one, texts) if isinstance(one, Delivered) else one for one in block]
    return _Document(_keep(_DENSE(segments).encode(), texts), texts)


def _entry(item: Delivered, texts: Texts) -> Segment:
    by_hash = item.part in _BY_HASH
    return [
        item.part,
        item.ref,
        item.rank,
        item.score,
        item.tier,
        item.verdict,
        item.source,
        _keep(item.words.encode(), texts).hex() if by_hash else None,
        None if by_hash else item.words,
    ]


def _left_out(candidates: Sequence[LeftOut], texts: Texts) -> bytes | None:
    if not candidates:
        return None
    kept = [[one.part, one.ref, one.reason] for one in candidates[:LEFT_OUT_KEPT]]
    return _keep(_DENSE([len(candidates), kept]).encode(), texts)


def _item(segment: list[Any], read: Reader) -> Item:
    part, ref, rank, score, tier, verdict, source, *_ = segment
    return Item(
        part=Part(part),
        ref=ref,
        rank=rank,
        words=_words(segment, read),
        score=score,
        tier=None if tier is None else TrustTier(tier),
        verdict=None if verdict is None else Verdict(verdict),
        source=source,
    )


def _words(segment: list[Any], read: Reader) -> str:
    sha, words = segment[7:9]
    return words if sha is None else read(bytes.fromhex(sha)).decode()


def _keep(body: bytes, texts: Texts) -> bytes:
    sha = sha256(body).digest()
    texts[sha] = body
    return sha
