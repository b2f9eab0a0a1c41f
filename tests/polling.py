"""Waiting for what comes in its own time: look again and again, and fail when a deadline is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

# Seconds between two looks: few at first, and more where it takes long, so that looking costs little.
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 0.2
Seen = TypeVar("Seen")


def wait_for(
    read: Callable[[], Seen], what: str, wanted: Callable[[Seen], object] = bool, *, seconds: float = 20.0
) -> Seen:
    """What is read, once it is `wanted`, by default true; else the test fails with `what` and the last."""
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    while not wanted(seen := read()):
        assert time.monotonic() < deadline, f"{what}: {seen!r}"
        time.sleep(pause)
        pause = min(pause * 1.2, _LONGEST_PAUSE)
    return seen


async def until(condition: Callable[[], object], what: str, *, seconds: float = 20.0) -> None:
    """Let the test's event loop go on until the condition holds; else the test fails with `what`."""

    async def holds() -> object:
        return condition()

    await wait_for_async(holds, what, seconds=seconds)


async def wait_for_async(
    read: Callable[[], Awaitable[Seen]],
    what: str,
    wanted: Callable[[Seen], object] = bool,
    *,
    seconds: float = 20.0,
) -> Seen:
    """`wait_for` what is read in the test's own event loop."""
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE
    while not wanted(seen := await read()):
        assert time.monotonic() < deadline, f"{what}: {seen!r}"
        await asyncio.sleep(pause)
        pause = min(pause * 1.2, _LONGEST_PAUSE)
    return seen
