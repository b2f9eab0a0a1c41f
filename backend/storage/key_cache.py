"""Keys that were just looked up, so that a busy key does not cost a query for each request."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime

from backend.domain.api_keys import ApiKey, KeyKind, hash_key, kind_of
from backend.storage.api_keys import find_active_key, note_use
from backend.storage.mongo import Database


class KeyCache:
    """Finds active keys; what it found is believed for `LIFETIME` seconds.

    A revoked key therefore stops working within that time in every process. Keys that were not found are not
    remembered, so that made-up keys can't fill the memory.
    """

    LIFETIME = 2.0
    CAPACITY = 10_000

    def __init__(self, database: Database, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._monotonic = monotonic
        self._found: OrderedDict[str, tuple[float, ApiKey]] = OrderedDict()

    async def find(self, text: str, kind: KeyKind) -> ApiKey | None:
        """The active key of this kind with this text, or None. Other kinds' prefixes cost no query."""
        if kind_of(text) is not kind:
            return None
        key_hash = hash_key(text)
        until, known = self._found.get(key_hash, (0.0, None))
        if known and self._monotonic() < until:
            return known
        key = await find_active_key(self._database, key_hash)
        self._remember(key_hash, key)
        if key is None or not key.is_for(key_hash) or key.kind is not kind:
            return None
        await note_use(self._database, key, datetime.now(UTC))
        return key

    def has_met(self, text: str) -> bool:
        """Whether the key was active when it was last looked up here, however long ago."""
        return hash_key(text) in self._found

    def _remember(self, key_hash: str, key: ApiKey | None) -> None:
        self._found.pop(key_hash, None)
        if key:
            self._found[key_hash] = (self._monotonic() + self.LIFETIME, key)
        while len(self._found) > self.CAPACITY:
            self._found.popitem(last=False)
