"""Tries that are counted as wrong when they begin, and given back where they could not be carried out."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple

from backend.concurrency.counted_log import CountedLog
from backend.rate_limits.exact_limit import ExactLimit
from backend.rate_limits.growing_pause import GrowingPause
from backend.storage.driver.deadlines import new_deadline
from backend.storage.driver.mongo import StorageError

# The request's own time may be over by then.
_UNDO_SECONDS = 2.0
_log = CountedLog(logging.getLogger("waylink.rate_limits"))


class TryCount(NamedTuple):
    """One of the counts of a try: `begin` returns the seconds to wait, or 0 if it counts the try as wrong."""

    begin: Callable[[], Awaitable[float]]
    undo: Callable[[], Awaitable[None]]


def in_pause(pause: GrowingPause, key: str) -> TryCount:
    """The count of tries for this key that makes pauses grow."""
    return TryCount(partial(pause.begin, key), partial(pause.undo, key))


def in_limit(limit: ExactLimit, key: str) -> TryCount:
    """The count of tries for this key that has a limit."""

    async def begin() -> float:
        state = await limit.count(key)
        return 0 if state.allowed else state.reset_after

    return TryCount(begin, partial(limit.give_back, key))


async def begin_try_in(counts: Sequence[TryCount]) -> float:
    """Begin a try in all of these counts. Returns 0, or the seconds to wait, for whichever lets no try begin.

    Then none of those before it has the try any more, since it is not carried out.
    """
    for place, count in enumerate(counts):
        if seconds := await count.begin():
            await undo_try_in(counts[:place])
            return seconds
    return 0


async def undo_try_in(counts: Sequence[TryCount]) -> None:
    """Undo a try that has begun in these counts."""
    for count in counts:
        await count.undo()


@asynccontextmanager
async def undone_after_errors(undo: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """A block that carries a try out. Where an error ends it, nothing was tried, and `undo` is called.

    It is not where the request is cancelled: else whoever hangs up would have as many tries as they like.
    """
    try:
        yield
    except Exception:
        try:
            with new_deadline(_UNDO_SECONDS):
                await undo()
        except StorageError as error:
            _log.warning(f"A try that was not carried out counts as wrong: {type(error).__name__}")
        raise
