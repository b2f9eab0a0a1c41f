"""A limit on what would never end: it fails, where it stands, and what comes after it goes on."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """The block fails when it takes longer. Only for the main thread."""

    def fail(*_: object) -> None:
        pytest.fail(f"did not end within {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, fail)
    # Again and again: an event loop only logs what it is interrupted with between two tasks.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
