"""Keeps the processes of a machine from folding clicks at the same time, and so from disturbing each other.

Nothing is wrong where two do: transactions see to it that each click counts once. So nobody waits for ever
for a process that was stopped while it had the lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

from backend.concurrency.processes import who_locks

# Who has the lock for so many seconds, without a rest in between, may have been stopped.
PATIENCE = 10.0
_logger = logging.getLogger(__name__)


class FoldingLock:
    """The lock, of which processes know by a file of the folder with the click logs."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "folding.lock"
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        self._refused_since: float | None = None  # since it was taken last
        self._is_ignored = False

    @contextlib.contextmanager
    def taken(self) -> Iterator[bool]:
        """Whether to fold in the block: not if another process has the lock, but after PATIENCE also then."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield self._has_waited()
            return
        self._refused_since, self._is_ignored = None, False
        try:
            yield True
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Release what it has open."""
        os.close(self._file)

    def _has_waited(self) -> bool:
        now = time.monotonic()
        if self._refused_since is None:
            self._refused_since = now
        if not self._is_ignored and now - self._refused_since > PATIENCE:
            self._is_ignored = True
            text = "Process %s has had %s for %g s, and may have been stopped: clicks are counted without it"
            _logger.warning(text, who_locks(self._path) or "?", self._path, PATIENCE)
        return self._is_ignored
