"""The secret key of an instance: made once, read ever after."""

import os
import secrets
from pathlib import Path

from protoconsole.config import ConfigError
from protoconsole.paths import make_private_dir, private_opener


def secret_key(path: Path) -> str:
    """Return the key kept at `path`, making it first where there is none."""
    try:
        if not path.exists():
            make_once(path, secrets.token_urlsafe(64).encode("ascii"))
        key = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: the secret key cannot be kept here: {error}") from error
    if not key:
        raise ConfigError(f"{path}: the secret key is empty; delete the file and a new one is made")
    return key


def make_once(path: Path, content: bytes) -> None:
    """Write a key aside and link it into place: of two processes at once, both end with the same key."""
    make_private_dir(path.parent)
    aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with open(aside, "xb", opener=private_opener) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _link_unless_there(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def _link_unless_there(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except FileExistsError:
        return
