"""Click logs: each process records its visits in a file, one line each, before it answers the visitor.

Once `append` returns, the kernel has the lines, so they survive the process. The file is locked by the
process that writes it. However that process ends, the kernel removes the lock, and another process can take
the file over.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from backend.system.private_folder import private_folder

SUFFIX = ".log"
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT


class ClickLog:
    """An open click log that this process owns. Positions are bytes from the start of the file.

    `end` is the position after its last complete line.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.id = path.name.removesuffix(SUFFIX)
        self.end = os.fstat(descriptor).st_size
        self.opened_at = time.monotonic()
        self._descriptor = descriptor
        self._torn = False

    def append(self, lines: Sequence[bytes]) -> int:
        """Write these lines, each ending with a newline. Returns how many of them were written.

        That is fewer than all if the disk becomes full; nothing of the others stays. Raises OSError if none
        was written.
        """
        if self._torn:
            self._cut_back()
        whole = b"".join(lines)
        self._torn = True  # until it is known that it was written whole
        written = os.write(self._descriptor, whole)
        if written == len(whole):
            self._torn = False
            self.end += written
            return len(lines)
        sizes = [size for size in accumulate(map(len, lines)) if size <= written]
        self.end += sizes[-1] if sizes else 0
        with contextlib.suppress(OSError):  # else before the next lines
            self._cut_back()
        return len(sizes)

    def _cut_back(self) -> None:
        """Remove the start of a line that was not written completely: its click is stored elsewhere.

        If that fails, the log accepts no more lines: a later newline would turn that start into a record.
        """
        os.ftruncate(self._descriptor, self.end)
        self._torn = False

    def read(self, position: int, limit: int) -> bytes:
        """The bytes from `position` on, at most `limit`."""
        return os.pread(self._descriptor, limit, position)

    def close(self) -> None:
        """Close and unlock the file, so that another process can take it over."""
        os.close(self._descriptor)

    def remove(self) -> None:
        """Delete the file, when all of it is in the database."""
        try:
            self.path.unlink(missing_ok=True)
        finally:
            self.close()


def create_log(folder: Path) -> ClickLog:
    """A new log in the folder.

    It gets its final name only after it is locked, so that nobody else takes it over.
    """
    private_folder(folder.parent)
    private_folder(folder)
    name = uuid.uuid4().hex
    unlocked = folder / f"{name}.new"
    descriptor = os.open(unlocked, _FLAGS | os.O_EXCL, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return ClickLog(unlocked.rename(folder / f"{name}{SUFFIX}"), descriptor)
    except OSError:
        os.close(descriptor)
        raise


def take_over_logs(folder: Path, most: int) -> Iterator[ClickLog]:
    """Take over logs in the folder that no running process owns, `most` of them at most.

    Raises OSError if one can't be opened, after all others were returned.
    """
    failure = None
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            log = _take_over(path) if most else None
        except OSError as error:
            failure = error
            continue
        if log:
            most -= 1
            yield log
    if failure:
        raise failure


def _take_over(path: Path) -> ClickLog | None:
    try:
        descriptor = os.open(path, _FLAGS & ~os.O_CREAT)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    if not os.fstat(descriptor).st_nlink:  # removed by its owner between our open and our lock
        os.close(descriptor)
        return None
    return ClickLog(path, descriptor)
