"""Threads in which questions are answered, of which no organization has all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

from backend.domain.ids import OrgId

ResultT = TypeVar("ResultT")
PreparedT = TypeVar("PreparedT")


class QuestionThreads:
    """Some threads. An organization has a part of them; what it asks beyond that waits for its turn."""

    def __init__(self, name: str, threads: int, of_one: int) -> None:
        """So many threads of this name, with this part of one organization."""
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._of_one = of_one
        # Of those organizations that ask: who waits for a turn, or has one, holds its semaphore.
        self._turns: WeakValueDictionary[OrgId, asyncio.Semaphore] = WeakValueDictionary()

    async def begin(
        self, org_id: OrgId, prepare: Callable[[], Awaitable[PreparedT]], work: Callable[[PreparedT], ResultT]
    ) -> asyncio.Future[ResultT]:
        """Wait for the organization's turn, and begin. The turn lasts until the work has ended.

        The work gets what `prepare` returns, which has no thread while it waits. Returns where the result
        will be. Whoever gives up leaves it alone: a thread is not cancelled. Raises what `prepare` raises.
        """
        turn = self._turns.setdefault(org_id, asyncio.Semaphore(self._of_one))
        await turn.acquire()
        try:
            prepared = await prepare()
        except BaseException:
            turn.release()
            raise
        working = asyncio.get_running_loop().run_in_executor(self._threads, partial(work, prepared))
        working.add_done_callback(lambda ended: turn.release())
        return working

    def close(self) -> None:
        """Return once all work has ended."""
        self._threads.shutdown()
