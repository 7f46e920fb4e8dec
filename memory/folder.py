"""The folder of summaries, which other programs write to as well: the one place that touches its files."""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from protoconsole.paths import make_private_dir

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LARGEST_STORED = 2**63 - 1  # some disks number their files higher than SQLite counts


class FileFault(Exception):
    """A file that is there and cannot be read; the text says why, about the file."""


class Entry(NamedTuple):
    """A file as a listing shows it; two equal entries are taken for the same content."""

    name: str
    mtime_ns: int
    size: int
    inode: int


@dataclass(frozen=True, slots=True)
class Folder:
    path: Path

    def stamp(self) -> int:
        """Return when a name in the folder last changed, in nanoseconds; 0 where there is no folder."""
        try:
            return self.path.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def names(self) -> list[str]:
        try:
            return os.listdir(self.path)  # noqa: PTH208 - names are wanted, not paths
        except FileNotFoundError:
            return []

    def entries(self) -> Iterator[Entry]:
        """List what is there and is no folder, without opening any of it."""
        if not self.stamp():
            return
        with os.scandir(self.path) as found:
            for item in found:
                with suppress(FileNotFoundError):  # gone between the listing and the look at it
                    yield _entry(item.name, item.stat(follow_symlinks=False))

    def read(self, name: str, most_bytes: int) -> bytes:
        """Return a file's bytes; raise FileNotFoundError, or FileFault where they cannot be had."""
        try:
            with open(self.path / name, "rb", opener=lambda path, _: os.open(path, _READ)) as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise FileFault("is not a regular file")
                content = file.read(most_bytes + 1)
        except FileNotFoundError:
            raise
        except OSError as error:
            linked = (self.path / name).is_symlink()
            raise FileFault(
                "is a symbolic link" if linked else f"cannot be read: {error.strerror}"
            ) from error
        if len(content) > most_bytes:
            raise FileFault(f"is larger than {most_bytes // 2**20} MB")
        return content

    def write(self, name: str, content: bytes) -> Entry:
        """Put a file in its place in one step: readers see the old one or the new one, whole."""
        make_private_dir(self.path)
        aside = self.path / f".{secrets.token_hex(8)}.tmp"
        try:
            with open(aside, "wb", opener=lambda path, _: os.open(path, _MAKE, 0o600)) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                written = os.fstat(file.fileno())
            aside.replace(self.path / name)
        except BaseException:  # raised on: nothing half-written stays, not even when a process is told to end
            aside.unlink(missing_ok=True)
            raise
        return _entry(name, written)

    def entry(self, name: str) -> Entry:
        """Look at one file; raise FileNotFoundError where there is none."""
        return _entry(name, (self.path / name).lstat())

    def move(self, name: str, where: Path) -> None:
        """Move a file, or a link but not what it points at, into a private folder."""
        make_private_dir(where)
        shutil.move(self.path / name, where / name)

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)


def _entry(name: str, found: os.stat_result) -> Entry:
    return Entry(name, found.st_mtime_ns, found.st_size, found.st_ino & _LARGEST_STORED)
