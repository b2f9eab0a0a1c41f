"""Deadlines of requests: by when MongoDB must have answered everything that a request waits for.

The driver keeps the deadline in context variables, so it also holds for tasks that the request's task starts.
The driver's public functions can only shorten it. This is the one file that uses the driver's private ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import pymongo
from pymongo import _csot

# `with deadline(seconds)`: calls of the database in the block raise StorageError after that time, or at the
# deadline of a block around it if that is sooner.
deadline = pymongo.timeout


@contextmanager
def new_deadline(seconds: float = inf) -> Iterator[None]:
    """A deadline that ignores those of blocks around it: for requests, and for work that many requests await.

    Without `seconds`, each operation has the time that the database was opened with.
    """
    ends = _csot.DEADLINE.set(inf)
    try:
        with pymongo.timeout(None if seconds == inf else seconds):
            yield
    finally:
        _csot.DEADLINE.reset(ends)


def lift_deadline() -> None:
    """Remove the deadline from this task from now on: its work takes long, and has time limits of its own."""
    _csot.TIMEOUT.set(None)
    _csot.DEADLINE.set(inf)


@contextmanager
def deadline_paused() -> Iterator[None]:
    """Move the deadline by the time that the block takes, which waits for others, such as a slow client.

    The time of such a block within another one counts once.
    """
    began, ends = time.monotonic(), _csot.DEADLINE.get()
    try:
        yield
    finally:
        _csot.DEADLINE.set(ends + time.monotonic() - began)


def seconds_left() -> float:
    """The seconds until the deadline, at least 0; infinity if there is none."""
    return max(0.0, _csot.DEADLINE.get() - time.monotonic())
