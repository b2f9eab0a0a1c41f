"""By when MongoDB must have answered: fixed once when a request arrives, for all that the request waits for.

The driver keeps this in context variables, so that whatever a task asks, or a task that it starts, is within.
It has public words only for making the time shorter; this is the one file that uses its private ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import pymongo
from pymongo import _csot

# `with deadline(seconds)`: what is asked of the database in the block raises StorageError after that time, or
# after that of a block around it, if it is over sooner.
deadline = pymongo.timeout


@contextmanager
def new_deadline(seconds: float = inf) -> Iterator[None]:
    """As `deadline`, but whatever a block around it says: for requests, and for what many of them wait for.

    Without `seconds`, each operation has the time that the database was opened with.
    """
    ends = _csot.DEADLINE.set(inf)
    try:
        with pymongo.timeout(None if seconds == inf else seconds):
            yield
    finally:
        _csot.DEADLINE.reset(ends)


def lift_deadline() -> None:
    """From now on this task has no deadline: what it asks takes long, and has time limits of its own."""
    _csot.TIMEOUT.set(None)
    _csot.DEADLINE.set(inf)


@contextmanager
def clock_stopped() -> Iterator[None]:
    """What this block takes does not count: it waits for others, such as a client that sends its request."""
    began = time.monotonic()
    try:
        yield
    finally:
        _csot.DEADLINE.set(_csot.DEADLINE.get() + time.monotonic() - began)


def seconds_left() -> float:
    """The time until the deadline, at least 0; endless where there is none."""
    return max(0.0, _csot.DEADLINE.get() - time.monotonic())
