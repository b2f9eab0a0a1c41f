"""A short-lived cache of API keys, so that a busy key does not cost a query for each request."""

from __future__ import annotations

from backend.concurrency.timed_cache import TimedCache
from backend.domain.accounts.api_keys import ApiKey, KeyKind, hash_key, kind_of
from backend.storage.accounts.api_keys import find_active_key, note_use
from backend.storage.driver.mongo import Database
from backend.system.clock import Clock


class KeyCache:
    """Finds active keys and notes that they are used.

    Results are cached for two seconds, so a revoked key stops working within that time in every process.
    A key whose time is over stops at once.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._cache: TimedCache[str, ApiKey | None] = TimedCache(self._load)

    async def find(self, text: str, kind: KeyKind) -> ApiKey | None:
        """The active key of this kind with this text; None if there is none.

        The prefix of another kind costs no query.
        """
        if kind_of(text) is not kind:
            return None
        return self._of_kind(await self._cache.get(hash_key(text)), kind)

    def cached(self, text: str, kind: KeyKind) -> ApiKey | None:
        """The key of this kind with this text, if it was looked up within the last seconds and is active."""
        return self._of_kind(self._cache.fresh(hash_key(text)), kind)

    def was_active(self, text: str) -> bool:
        """Whether the key was active when this process last looked it up, however long ago."""
        return self._cache.recall(hash_key(text)) is not None

    def _of_kind(self, key: ApiKey | None, kind: KeyKind) -> ApiKey | None:
        return key if key and key.kind is kind and key.is_valid(self._clock()) else None

    async def _load(self, key_hash: str) -> ApiKey | None:
        now = self._clock()
        key = await find_active_key(self._database, key_hash, now)
        if key is None or not key.is_for(key_hash):
            return None
        await note_use(self._database, key, now)
        return key
