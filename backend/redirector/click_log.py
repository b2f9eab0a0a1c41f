"""Clicks on local disk, before the answer leaves: a file for each process, in lines.

A line is in the kernel's hands when `append` returns, so it survives the process. The file is locked by the
process that writes it; the kernel drops the lock when that process ends, however it ends, and then any
other process takes the file over.
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

from backend.storage.private_folder import private_folder

SUFFIX = ".log"
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT


class ClickLog:
    """An open log file that this process owns. Positions are bytes from the start of the file.

    `end` is where its whole lines end.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self.id = path.name.removesuffix(SUFFIX)
        self.end = os.fstat(descriptor).st_size
        self.opened_at = time.monotonic()
        self._descriptor = descriptor
        self._torn = False

    def append(self, lines: Sequence[bytes]) -> int:
        """Write lines, each of which ends with a newline; how many of them, from the first on, it takes.

        Fewer than all where the disk becomes full; raises OSError where it takes none. Nothing stays of the
        others.
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
        """Take out the start of a line that was not written whole: its click is stored elsewhere.

        Where that fails the log takes no more lines, so that no newline ever makes a record of that start.
        """
        os.ftruncate(self._descriptor, self.end)
        self._torn = False

    def read(self, position: int, limit: int) -> bytes:
        """What stands from `position` on, `limit` bytes at most."""
        return os.pread(self._descriptor, limit, position)

    def close(self) -> None:
        """Give the file up, so that another process may take it over."""
        os.close(self._descriptor)

    def remove(self) -> None:
        """Delete the file: all of it is in the database."""
        try:
            self.path.unlink(missing_ok=True)
        finally:
            self.close()


def click_id(log_id: str, position: int) -> str:
    """The id of the record at a position: unique, since a log's id is and its bytes never change."""
    return f"{log_id}-{position}"


def create_log(folder: Path) -> ClickLog:
    """A new log in the folder. It has its name only once it is locked, so that nobody takes it over."""
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
    """The logs in the folder that no running process owns, so many at most; this one owns them from now on.

    Raises OSError, once the others are given, where one can't be opened.
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
