"""Threads in which questions are answered, of which no organization has all."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from backend.domain.ids import OrgId

ResultT = TypeVar("ResultT")


class QuestionThreads:
    """Some threads. An organization has a part of them; what it asks beyond that waits for its turn."""

    def __init__(self, name: str, threads: int, of_one: int) -> None:
        """So many threads of this name, with this part of one organization."""
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._turns: defaultdict[OrgId, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(of_one))

    async def begin(self, org_id: OrgId, work: Callable[[], ResultT]) -> asyncio.Future[ResultT]:
        """Wait for the organization's turn, and begin. The turn lasts until the work has ended.

        Returns where the result will be. Whoever gives up leaves it alone: a thread is not cancelled.
        """
        turn = self._turns[org_id]
        await turn.acquire()
        working = asyncio.get_running_loop().run_in_executor(self._threads, work)
        working.add_done_callback(lambda ended: turn.release())
        return working

    def close(self) -> None:
        """Return once all work has ended."""
        self._threads.shutdown()
