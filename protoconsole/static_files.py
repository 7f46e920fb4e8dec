"""The files that browsers load: collected with hashed names where they have changed since the last time."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

STAMP = ".collected"


def collect_static() -> None:
    """Collect what pages load, unless that was done for these very files; safe to run twice at once."""
    if settings.STATIC_ROOT is None:
        return
    stamp = Path(settings.STATIC_ROOT) / STAMP
    wanted = _fingerprint()
    if _is(stamp, wanted):
        return
    with _one_at_a_time(settings.ROOT):
        if not _is(stamp, wanted):
            call_command("collectstatic", interactive=False, clear=True, verbosity=0)
            stamp.write_text(wanted, "ascii")


def _is(stamp: Path, wanted: str) -> bool:
    return stamp.exists() and stamp.read_text("ascii") == wanted


def _fingerprint() -> str:
    """Digest the names and contents of all files; their times tell nothing after a checkout."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            content = Path(storage.path(name)).read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    # The folder itself, because a lock file inside would be cleared away with the rest.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
