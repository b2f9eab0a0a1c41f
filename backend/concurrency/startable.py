"""What is started, goes on beside requests, and is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol


class Startable(Protocol):
    """Work that goes on between `start` and `stop`."""

    async def start(self) -> None:
        """Start the work. Where it raises an error, nothing was started."""

    async def stop(self) -> None:
        """Stop the work, and wait until it has ended."""


class Monitored(Startable, Protocol):
    """A startable that says what of its work is failing."""

    @property
    def failures(self) -> Sequence[str]:
        """A description of each piece of the work that is failing now; none while all goes well."""


@asynccontextmanager
async def running(*startables: Startable) -> AsyncIterator[None]:
    """Start all of them in this order for the length of the block, and stop them in reverse order."""
    async with AsyncExitStack() as started:
        for startable in startables:
            await startable.start()
            started.push_async_callback(startable.stop)
        yield


class SideBySide:
    """Several startables as one. None of them waits while another one starts or stops."""

    def __init__(self, *members: Monitored) -> None:
        self._members = members

    async def start(self) -> None:
        """Start all members."""
        await asyncio.gather(*(member.start() for member in self._members))

    async def stop(self) -> None:
        """Stop all members."""
        await asyncio.gather(*(member.stop() for member in self._members))

    @property
    def failures(self) -> list[str]:
        """The failures of all members."""
        return [failure for member in self._members for failure in member.failures]
