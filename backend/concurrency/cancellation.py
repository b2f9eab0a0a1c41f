"""Cancellations that a task did not notice."""

from __future__ import annotations

import asyncio


def raise_if_cancelled() -> None:
    """Raise CancelledError if the current task was cancelled and goes on all the same.

    Before Python 3.12, `asyncio.wait_for`, which libraries use, loses a cancellation that comes in the same
    moment as its result. Work that is repeated for ever would then never end.
    """
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError
