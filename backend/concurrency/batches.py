"""Batches: items that arrive while others of the same key are worked on are the next batch of this key."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class _Waiting(Generic[ItemT, ResultT]):
    item: ItemT
    answer: asyncio.Future[ResultT]


class Batches(Generic[KeyT, ItemT, ResultT]):
    """Works on the items of a key in batches, one batch of each key at a time.

    Whatever happens to a batch, everybody who waits for it is answered, and the next one begins.
    """

    def __init__(self, work: Callable[[KeyT, Sequence[ItemT]], Awaitable[Sequence[ResultT]]]) -> None:
        """`work` returns a result for each item, in order. It runs in the context of a caller of the key."""
        self._work = work
        self._waiting: dict[KeyT, list[_Waiting[ItemT, ResultT]]] = {}
        self._workers: dict[KeyT, asyncio.Task[None]] = {}

    async def add(self, key: KeyT, item: ItemT) -> ResultT:
        """The result for this item. Raises what `work` raised for its batch."""
        waiting: _Waiting[ItemT, ResultT] = _Waiting(item, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(key, []).append(waiting)
        if key not in self._workers:
            self._workers[key] = asyncio.create_task(self._work_on(key))
        return await waiting.answer

    async def _work_on(self, key: KeyT) -> None:
        """Work on everything that waits for this key, until no more has come meanwhile."""
        try:
            while arrived := self._waiting.pop(key, None):
                if batch := [waiting for waiting in arrived if not waiting.answer.done()]:  # not given up
                    await self._work_on_batch(key, batch)
        finally:
            del self._workers[key]
            _cancel(self._waiting.pop(key, ()))  # where this task is cancelled, as the process ends

    async def _work_on_batch(self, key: KeyT, batch: Sequence[_Waiting[ItemT, ResultT]]) -> None:
        try:
            results = await self._work(key, [waiting.item for waiting in batch])
            for waiting, result in zip(batch, results, strict=True):
                if not waiting.answer.done():
                    waiting.answer.set_result(result)
        except Exception as error:
            for waiting in batch:
                if not waiting.answer.done():
                    waiting.answer.set_exception(error)
        finally:
            _cancel(batch)


def _cancel(batch: Sequence[_Waiting[ItemT, ResultT]]) -> None:
    for waiting in batch:
        waiting.answer.cancel()  # does nothing to an answer that is given
