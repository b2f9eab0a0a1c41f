"""Items of background work, such as organizations: what fails for one stops no other."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TypeVar

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
_FEW = 100
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
        items: Iterable[WorkItem[ValueT]],
        do: Callable[[ValueT], Awaitable[object]],
        *,
        only_begins: bool = False,
    ) -> list[WorkItem[ValueT]]:
        """Do it for each of these items but those that wait. Returns the items for which it was done.

        Where it `only_begins` what may fail later, call `succeed` or `fail` then.
        """
        waiting = await self._failing_among(items)
        done = []
        for item in items:
            if not waiting.get(item.id) and await self._is_done(item, do):
                done.append(item)
                if item.id in waiting and not only_begins:
                    await self.succeed(item)
        return done

    async def all(
        self, items: Iterable[WorkItem[ValueT]], do: Callable[[Sequence[ValueT]], Awaitable[object]]
    ) -> list[WorkItem[ValueT]]:
        """As `each`, but all of them at once. Where that fails, each is tried by itself."""
        items = list(items)
        waiting = await self._failing_among(items)
        due = [item for item in items if not waiting.get(item.id)]
        try:
            await do([item.read() for item in due])
        except Exception as error:
            if is_away(error):
                raise
            return await self.each(due, lambda value: do([value]))
        for item in due:
            if item.id in waiting:
                await self.succeed(item)
        return due

    async def one(self, item: WorkItem[ValueT], do: Callable[[ValueT], Awaitable[object]]) -> bool:
        """Do it for this item, unless it waits. Returns whether it was done."""
        return bool(await self.each([item], do))

    async def failing(self) -> Mapping[str, bool]:
        """The ids of the items that fail, each with whether it waits for its next try."""
        return await read_waiting(self._database, self._work)

    async def _failing_among(self, items: Iterable[WorkItem[ValueT]]) -> Mapping[str, bool]:
        """Not all, where these are few: thousands of one organization may fail."""
        is_few = isinstance(items, Sequence) and len(items) <= _FEW
        among = [item.id for item in items] if is_few else None
        return await read_waiting(self._database, self._work, among)

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
