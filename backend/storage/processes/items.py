"""Items of background work, such as organizations: what fails for one stops no other."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from math import inf
from typing import Generic, TypeVar

from backend.concurrency.background_task import tell_failed
from backend.storage.driver.mongo import Database, StorageError, is_away
from backend.storage.processes.error_words import error_words
from backend.storage.processes.failing_items import (
    LONGEST_PAUSE,
    forget_failure,
    note_failure,
    read_waiting,
)
from backend.storage.processes.work import Work
from backend.storage.schema.work_item import WorkItem

ValueT = TypeVar("ValueT")
# What is done for an item, piece by piece. After each piece, others may have their turn.
Pieces = AsyncGenerator[object, None]
# A turn ends with the first piece that ends after so many seconds.
_TURN_SECONDS = 5.0
# The items that are asked for at once whether they fail.
_PER_LOOK = 100
_logger = logging.getLogger(__name__)


class Items:
    """Tries each item of a work by itself. One that fails is left out for a pause that grows.

    MongoDB has which ones fail (storage/processes/failing_items), so all processes keep the pauses. Only
    where it is away is the error raised: then no other item would do better. No pause is longer than
    `longest`.
    """

    def __init__(self, database: Database, work: Work, longest: timedelta = LONGEST_PAUSE) -> None:
        self._database = database
        self._work = work
        self._longest = longest

    async def each(
        self,
        items: Sequence[WorkItem[ValueT]],
        do: Callable[[ValueT], Awaitable[object]],
        *,
        only_begins: bool = False,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> list[WorkItem[ValueT]]:
        """Do it for each of these items but those that wait. Returns the items for which it was done.

        Where it `only_begins` what may fail later, call `succeed` or `fail` then. It ends after the first
        item behind which it no longer `goes_on`.
        """
        done: list[WorkItem[ValueT]] = []
        for some in _in_groups(items):
            waiting = await self._failing_among(some)
            for item in some:
                if not waiting.get(item.id) and await self._is_done(item, do):
                    done.append(item)
                    if item.id in waiting and not only_begins:
                        await self.succeed(item)
                if not goes_on():
                    return done
        return done

    async def in_turns(
        self,
        items: Sequence[WorkItem[ValueT]],
        pieces: Callable[[ValueT], Pieces],
        *,
        seconds: float = inf,
    ) -> None:
        """As `each`, but items take turns of some seconds, so one with much to do delays no other.

        It ends after so many seconds, once each organization has had a turn: what is left is for the next
        call. Where an organization has several items, the first of each comes first, as in `items_in_turns`.
        """
        ends = time.monotonic() + seconds
        turns: deque[_Turns[ValueT]] = deque()
        for some in _in_groups(items):
            waiting = await self._failing_among(some)
            due = (item for item in some if not waiting.get(item.id))
            turns.extend(_Turns(item, pieces, item.id in waiting) for item in due)
        first_turns = len({_owner_of(turn.item) for turn in turns})
        try:
            while turns and (first_turns > 0 or time.monotonic() < ends):
                first_turns -= 1
                await self._take(turns.popleft(), turns)
        finally:
            for turn in turns:
                await turn.end()

    async def _take(self, turn: _Turns[ValueT], turns: deque[_Turns[ValueT]]) -> None:
        """Let the item have its turn, and put it behind the other `turns` if more is to do."""
        if not await self._is_done(turn.item, turn.take):
            return
        if not turn.is_over:
            turns.append(turn)
        elif turn.has_failed:
            await self.succeed(turn.item)

    async def all(
        self, items: Sequence[WorkItem[ValueT]], do: Callable[[Sequence[ValueT]], Awaitable[object]]
    ) -> list[WorkItem[ValueT]]:
        """As `each`, but all of them at once. Where that fails, each is tried by itself."""
        due: list[WorkItem[ValueT]] = []
        failed: set[str] = set()
        for some in _in_groups(items):
            waiting = await self._failing_among(some)
            due += [item for item in some if not waiting.get(item.id)]
            failed |= waiting.keys()
        try:
            await do([item.read() for item in due])
        except Exception as error:
            if is_away(error):
                raise
            return await self.each(due, lambda value: do([value]))
        for item in due:
            if item.id in failed:
                await self.succeed(item)
        return due

    async def one(self, item: WorkItem[ValueT], do: Callable[[ValueT], Awaitable[object]]) -> bool:
        """Do it for this item, unless it waits. Returns whether it was done."""
        return bool(await self.each([item], do))

    async def failing(self) -> Mapping[str, bool]:
        """The ids of the items that fail, each with whether it waits for its next try."""
        return await read_waiting(self._database, self._work)

    async def _failing_among(self, items: Sequence[WorkItem[ValueT]]) -> Mapping[str, bool]:
        """Not all that fail: these may be thousands of one organization."""
        return await read_waiting(self._database, self._work, [item.id for item in items])

    async def waiting(self) -> list[str]:
        """The ids of the items that wait, for queries that leave them out."""
        return [item for item, waits in (await self.failing()).items() if waits]

    async def succeed(self, item: WorkItem[object]) -> None:
        """Note that the item does not fail."""
        await forget_failure(self._database, self._work, item)

    async def fail(self, item: WorkItem[object], error: Exception) -> None:
        """Note that it can't be done for this item. Raises the error where MongoDB is away."""
        if is_away(error):
            raise error
        tell_failed(self._work)
        _logger.error("Background work failed for one of many: %s: %s", self._work, item.id, exc_info=error)
        try:
            await note_failure(self._database, self._work, item, error_words(error), self._longest)
        except StorageError as unnoted:  # it is tried again at once; the others have their turn first
            if is_away(unnoted):
                raise
            _logger.warning("That %s fails can't be noted: %s", item.id, unnoted)

    async def _is_done(self, item: WorkItem[ValueT], do: Callable[[ValueT], Awaitable[object]]) -> bool:
        """Do it for this item. Returns whether that succeeded."""
        try:
            await do(item.read())
        except Exception as error:
            await self.fail(item, error)
            return False
        return True


@dataclass(slots=True)
class _Turns(Generic[ValueT]):
    """The turns of an item, which `has_failed` before or not. In each, some pieces of its work are done."""

    item: WorkItem[ValueT]
    pieces: Callable[[ValueT], Pieces]
    has_failed: bool
    is_over: bool = False
    _begun: Pieces | None = field(default=None, init=False)

    async def take(self, value: ValueT) -> None:
        """Go on for some seconds."""
        ends = time.monotonic() + _TURN_SECONDS
        self._begun = self._begun or self.pieces(value)
        async for _ in self._begun:
            if time.monotonic() > ends:
                return
        self.is_over = True

    async def end(self) -> None:
        """Go on no more."""
        if self._begun:
            await self._begun.aclose()


def _owner_of(item: WorkItem[object]) -> str:
    """Whose item it is. One of the installation stands for itself."""
    return item.id if item.org_id is None else item.org_id


def _in_groups(items: Sequence[WorkItem[ValueT]]) -> Iterator[Sequence[WorkItem[ValueT]]]:
    return (items[begin : begin + _PER_LOOK] for begin in range(0, len(items), _PER_LOOK))
