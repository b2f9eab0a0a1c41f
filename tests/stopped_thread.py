"""Stops a thread in which owners take turns, so that a test sees who waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from threading import Event

from backend.concurrency.fair_thread import FairThread
from tests.polling import until


@asynccontextmanager
async def stopped(thread: FairThread) -> AsyncIterator[Event]:
    """The thread does nothing more until the event is set, or the block ends."""
    release, begun = Event(), Event()

    def hold() -> None:
        begun.set()
        release.wait()

    holding = asyncio.ensure_future(thread.run("the test", hold))
    try:
        await until(begun.is_set, "the thread does not begin")
        yield release
    finally:
        release.set()
        await holding


async def waits(thread: FairThread, owner: Hashable, pieces: int) -> None:
    """Wait until so many pieces of this owner wait for the thread."""
    await until(lambda: len(thread._lines.get(owner, ())) == pieces, f"{owner} does not wait")
