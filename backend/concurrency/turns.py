"""Work that is done one at a time, with a limit on how many may wait."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from backend.concurrency.fair_thread import TooManyWait


class Turns:
    """Lets one caller work at a time.

    Callers with precedence come first; a limited number of each kind may wait.
    """

    def __init__(self, most_waiting: int) -> None:
        self._most_waiting = most_waiting
        self._is_busy = False
        self._preceding: deque[asyncio.Future[None]] = deque()
        self._others: deque[asyncio.Future[None]] = deque()

    def has_room(self, *, precedence: bool) -> bool:
        """Whether one more caller of this kind may wait now."""
        return len(self._line(precedence)) < self._most_waiting

    @asynccontextmanager
    async def turn(self, *, precedence: bool) -> AsyncIterator[None]:
        """Wait for a turn; it lasts as long as the block. Raises TooManyWait at once if too many wait."""
        await self._wait(self._line(precedence), precedence)
        try:
            yield
        finally:
            self._pass_on()

    def _line(self, precedence: bool) -> deque[asyncio.Future[None]]:
        return self._preceding if precedence else self._others

    async def _wait(self, line: deque[asyncio.Future[None]], precedence: bool) -> None:
        if not self._is_busy:
            self._is_busy = True
            return
        if not self.has_room(precedence=precedence):
            raise TooManyWait
        turn = asyncio.get_running_loop().create_future()
        line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in line:
                line.remove(turn)
            elif not turn.cancelled():  # the turn came at the same moment: pass it on
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        for line in (self._preceding, self._others):
            while line:
                turn = line.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._is_busy = False
