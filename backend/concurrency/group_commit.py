"""Group commit: items that arrive during a write are stored together by the next write."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class NotStored(ConnectionError):
    """The database is out of reach, or too many items wait. The sender may try again."""


class GroupCommit(Generic[ItemT, ResultT]):
    """Stores items that arrive together with one call of `store`.

    Each caller waits until its item is stored.
    """

    GATHER = 0.002  # seconds that the first item of a group waits for others
    # Storing a group costs as much as storing so many items: smaller ones are not divided.
    WORTH_A_GROUP = 20
    # Beyond this size a group takes longer without costing less an item.
    MOST_IN_GROUP = 512
    MOST_WAITING = 2000
    # While one group waits for the disks of a majority, others can be sent, if they are full: what is divided
    # among smaller groups costs more, since a group costs as much as twenty items.
    MOST_WRITERS = 4

    def __init__(
        self,
        store: Callable[[Sequence[ItemT]], Awaitable[Sequence[ResultT]]],
        is_unreachable: Callable[[Exception], bool],
        size_of: Callable[[ItemT], int] = lambda _: 1,
    ) -> None:
        """`store` returns a result for each item, in order.

        `is_unreachable` says if an error is only temporary, `size_of` how much of a group an item takes.
        """
        self._store = store
        self._is_unreachable = is_unreachable
        self._size_of = size_of
        self._waiting: list[tuple[ItemT, asyncio.Future[ResultT]]] = []
        self._waiting_size = 0
        self._is_gathering = False
        self._writers: set[asyncio.Task[None]] = set()

    @property
    def is_full(self) -> bool:
        """Whether no more items may wait now."""
        return len(self._waiting) >= self.MOST_WAITING

    async def add(self, item: ItemT) -> ResultT:
        """Store the item together with others and return its result.

        Raises NotStored, or the error that `store` raised for this item.
        """
        if self.is_full:
            raise NotStored
        stored: asyncio.Future[ResultT] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, stored))
        self._waiting_size += self._size_of(item)
        if not self._is_gathering and self._may_write(len(self._writers)):
            self._start_writer()
        return await stored

    def _may_write(self, others: int) -> bool:
        """Whether what waits is to be written beside this many others."""
        is_full = self._waiting_size >= self.MOST_IN_GROUP
        return not others or (is_full and others < self.MOST_WRITERS)

    def _start_writer(self) -> None:
        self._is_gathering = True
        writer = asyncio.create_task(self._write())
        self._writers.add(writer)
        writer.add_done_callback(self._writers.discard)

    async def _write(self) -> None:
        writer = asyncio.current_task()
        assert writer is not None  # it runs in a task of its own
        await asyncio.sleep(self.GATHER)
        self._is_gathering = False
        answered = 0
        while self._waiting and self._may_write(others := len(self._writers) - 1):
            waiting = self._waiting_size
            group = self._take_group(self.MOST_IN_GROUP if others else self._half(answered))
            answered = waiting - self._waiting_size
            await self._commit(group)
        # Not only when the task is done, a moment later: an item that came in between would wait for nobody.
        self._writers.discard(writer)

    def _half(self, answered: int) -> int:
        """The size of the next group, if the one before had `answered` items, whose senders come again.

        One half of all is then stored while the other is answered and asks anew. In one group, all would wait
        for the database together, and the database then for all of them.
        """
        half = (self._waiting_size + answered + 1) // 2
        return min(self.MOST_IN_GROUP, max(self.WORTH_A_GROUP, half))

    def _take_group(self, most: int) -> list[tuple[ItemT, asyncio.Future[ResultT]]]:
        """The items that wait longest, at least one, of this size together at most."""
        size = number = 0
        for item, _ in self._waiting:
            size += self._size_of(item)
            if number and size > most:
                break
            number += 1
        group, self._waiting = self._waiting[:number], self._waiting[number:]
        self._waiting_size -= sum(self._size_of(item) for item, _ in group)
        return group

    async def _commit(self, group: list[tuple[ItemT, asyncio.Future[ResultT]]]) -> None:
        try:
            results = await self._store([item for item, _ in group])
        except Exception as error:
            if self._is_unreachable(error):
                _fail(group, NotStored())
            else:
                await self._commit_alone(group, error)
        else:
            for (_, stored), result in zip(group, results, strict=True):
                _set(stored, result)

    async def _commit_alone(
        self, group: list[tuple[ItemT, asyncio.Future[ResultT]]], error: Exception
    ) -> None:
        """Store each item of a failed group by itself: one bad item may have made all of them fail."""
        if len(group) == 1:
            _fail(group, error)
            return
        for each in group:
            await self._commit([each])


def _set(stored: asyncio.Future[ResultT], result: ResultT) -> None:
    if not stored.done():  # the request may have been given up
        stored.set_result(result)


def _fail(group: list[tuple[ItemT, asyncio.Future[ResultT]]], error: Exception) -> None:
    for _, stored in group:
        if not stored.done():
            stored.set_exception(error)
