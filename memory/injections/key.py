"""The key of the chain: it lies in the instance and never in the log."""

import hmac
import secrets
from functools import lru_cache
from pathlib import Path

from protoconsole.instance import current
from protoconsole.secret import make_once

KEY_FILE = "log.key"
KEY_BYTES = 32


def path() -> Path:
    return current().paths.instance_root / KEY_FILE


def signing_key() -> bytes:
    """Return the key, making it first where there is none; raise OSError where that cannot be done."""
    key = existing_key()
    if key is None:
        make_once(path(), secrets.token_bytes(KEY_BYTES))
        return path().read_bytes()
    return key


def existing_key() -> bytes | None:
    try:
        return path().read_bytes()
    except FileNotFoundError:
        return None


def sign(key: bytes, *words: object) -> bytes:
    """Sign words that hold no bar."""
    return hmac.digest(key, "|".join(map(str, words)).encode(), "sha256")


@lru_cache(maxsize=4)
def fingerprint(key: bytes) -> str:
    """Tell keys apart without telling the key."""
    return sign(key, "fingerprint").hex()[:16]
