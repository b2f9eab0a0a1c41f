"""Cancellations: those that a task did not notice, and those that may not cut off what is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


async def until_ended(work: Coroutine[Any, Any, ResultT], seconds: float | None = None) -> ResultT:
    """Await `work`, which goes on if the caller is cancelled.

    The caller goes on, as cancelled, once the work has ended, or after so many seconds. What it does next so
    comes after the work, also where that is done by a thread.
    """
    running = asyncio.ensure_future(work)
    # Nobody asks for an error that comes after a cancellation.
    running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running], timeout=seconds)
        raise


def raise_if_cancelled() -> None:
    """Raise CancelledError if the current task was cancelled and goes on all the same.

    Before Python 3.12, `asyncio.wait_for`, which libraries use, loses a cancellation that comes in the same
    moment as its result. Work that is repeated for ever would then never end.
    """
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError
