"""A limit for what waits for others, of which no owner has more than its part."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class FairSemaphore:
    """Lets so many work at a time. One owner has half of the places at most, and owners take turns.

    An owner is whoever could keep others waiting, such as an organization whose servers don't answer.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._most_of_one = max(1, places // 2)
        self._held: Counter[Hashable] = Counter()
        # Those who wait, by owner, in the order of the owners' turns.
        self._lines: dict[Hashable, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, owner: Hashable) -> AsyncIterator[None]:
        """Wait for a place, which lasts as long as the block."""
        turn = asyncio.get_running_loop().create_future()
        self._lines.setdefault(owner, deque()).append(turn)
        self._pass_on()
        try:
            await turn
            yield
        finally:
            self._leave(owner, turn)

    def _leave(self, owner: Hashable, turn: asyncio.Future[None]) -> None:
        if not turn.cancelled():
            self._free += 1
            self._held[owner] -= 1
            self._held += Counter()  # which forgets owners who have none left
        self._pass_on()

    def _pass_on(self) -> None:
        """Give free places to those whose turn it is."""
        for owner in [*self._lines]:
            line = deque(turn for turn in self._lines.pop(owner) if not turn.cancelled())
            if line and self._free and self._held[owner] < self._most_of_one:
                self._free -= 1
                self._held[owner] += 1
                line.popleft().set_result(None)
            if line:  # behind the others
                self._lines[owner] = line
