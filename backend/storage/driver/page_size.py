"""How many documents a transaction takes on, where a task has more of them than one can have."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from backend.storage.driver.deadlines import seconds_left
from backend.storage.driver.mongo import (
    ClientSession,
    Database,
    ResultT,
    StorageError,
    in_transaction,
    is_too_much,
)


class PageSize:
    """At most so many documents a transaction: half as many after each that is too much for MongoDB.

    So no task tries for ever what takes longer than a transaction may.
    """

    def __init__(self, most: int) -> None:
        self.now = most

    async def transact(
        self, database: Database, work: Callable[[ClientSession], Coroutine[Any, Any, ResultT]]
    ) -> ResultT:
        """Run `work`, which takes on at most `now` documents, in one transaction (`in_transaction`).

        If that is too much, it runs again with half as many. Raises StorageError for one document that is,
        and once the caller's deadline has passed.
        """
        while True:
            try:
                return await in_transaction(database, work)
            except StorageError as error:
                if self.now == 1 or not is_too_much(error) or not seconds_left():
                    raise
                self.now //= 2
