"""The note of the chain's head, kept beside the log and outside it, so that a cut tail shows.

The note is one signed line of fixed length that is written in place by one call. It is written after the
commit and inside the write lock, so a process killed in between leaves a log that is ahead of its note, which
the chain itself proves; the note is never ahead, except where the machine lost power before SQLite's last
pages reached the disk. A note that the log does not bear out is evidence: it is left as it stands.
"""

import hmac
import json
import os
from pathlib import Path

from django.db import connections

from memory.injections import chain
from memory.injections.chain import BEGINNING, Link
from memory.injections.errors import HeadDamaged
from memory.injections.key import fingerprint, sign
from protoconsole.databases import INJECTIONS

_LENGTH = 384


def path() -> Path:
    log = Path(str(connections[INJECTIONS].settings_dict["NAME"]))
    return log.with_name(f"{log.name}.head")


def read(key: bytes) -> Link | None:
    """Raises HeadDamaged for a note that this key did not sign, also where another key did."""
    try:
        descriptor = os.open(path(), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        return _parsed(os.read(descriptor, _LENGTH), key)
    finally:
        os.close(descriptor)


def note(key: bytes, link: Link) -> None:
    """Write the note; raises OSError where that is impossible."""
    signature = _signature(key, link).hex()
    line = json.dumps([link.id, link.seq, link.mac.hex(), fingerprint(key), signature])
    descriptor = os.open(path(), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.pwrite(descriptor, line.ljust(_LENGTH - 1).encode() + b"\n", 0)
    finally:
        os.close(descriptor)


def begin(key: bytes) -> None:
    """Note the empty chain of a new log, unless something is noted or chained already."""
    if not path().exists() and chain.last(key) is BEGINNING:
        note(key, BEGINNING)


def is_borne_out(noted: Link | None, last: Link, key: bytes) -> bool:
    """Say whether the log holds what is noted, and perhaps more after it."""
    if noted is None:
        return False
    if noted.same_as(last) or noted.seq == 0:
        return True
    there = chain.at(noted.seq) or chain.anchor(key)
    return there is not None and there.same_as(noted)


def advance(key: bytes, link: Link, before: Link) -> bool:
    """Note a new head after its predecessor, unless the standing note says that the log lost rows."""
    try:
        noted = read(key)
    except HeadDamaged:
        return False
    if not is_borne_out(noted, before, key):
        return False
    note(key, link)
    return True


def _parsed(text: bytes, key: bytes) -> Link:
    try:
        row_id, seq, mac, by_key, signature = json.loads(text)
        link = Link(int(row_id), int(seq), bytes.fromhex(mac))
        signed = hmac.compare_digest(bytes.fromhex(signature), _signature(key, link))
    except (ValueError, TypeError) as error:
        raise HeadDamaged("it is not readable") from error
    if by_key != fingerprint(key):
        raise HeadDamaged("it was signed with another key than the one in log.key")
    if not signed:
        raise HeadDamaged("its signature is wrong")
    return link


def _signature(key: bytes, link: Link) -> bytes:
    return sign(key, "head", link.id, link.seq, link.mac.hex())
