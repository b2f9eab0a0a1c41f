"""Pauses after failed tries, each longer than the one before."""

from __future__ import annotations

from collections.abc import Sequence

from backend.storage.accounts.rate_limits import begin_try, forget_count, undo_try
from backend.storage.driver.mongo import Database


class GrowingPause:
    """`pauses` are the seconds to wait after the first try, the second, and so on; the last one repeats.

    A try counts from its beginning, so that many at once don't get through. After a successful try, call
    `forget`.
    """

    def __init__(self, database: Database, name: str, pauses: Sequence[float]) -> None:
        self._database = database
        self._name = name
        self._pauses = pauses

    async def begin(self, key: str) -> float:
        """Begin a try. Returns 0, or the seconds that are left of the pause: then no try has begun."""
        return await begin_try(self._database, f"{self._name}/{key}", self._pauses)

    async def undo(self, key: str) -> None:
        """Undo a try that began and could not be carried out."""
        await undo_try(self._database, f"{self._name}/{key}")

    async def forget(self, key: str) -> None:
        """Forget all tries for this key."""
        await forget_count(self._database, f"{self._name}/{key}")
