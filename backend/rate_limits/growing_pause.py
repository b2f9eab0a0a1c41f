"""A pause after each failed try, which grows from one to the next."""

from __future__ import annotations

from collections.abc import Sequence

from backend.storage.mongo import Database
from backend.storage.rate_limits import begin_try, forget_count


class GrowingPause:
    """`pauses` are the seconds to wait after the first try, the second, and so on; the last one stays.

    A try counts as it begins, so that many at once don't slip through; one that succeeds is forgotten with
    those before.
    """

    def __init__(self, database: Database, name: str, pauses: Sequence[float]) -> None:
        self._database = database
        self._name = name
        self._pauses = pauses

    async def begin(self, key: str) -> float:
        """Begin a try: 0, or the seconds that are left of the pause, and then the try did not begin."""
        return await begin_try(self._database, f"{self._name}/{key}", self._pauses)

    async def forget(self, key: str) -> None:
        """Forget all tries of a key."""
        await forget_count(self._database, f"{self._name}/{key}")
