"""Hashes that stand for addresses in the database. Each day has a random key, which is deleted later."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable

from backend.domain.apps.deferred_links import day_of
from backend.storage.clicks.address_keys import address_key
from backend.storage.driver.mongo import Database, server_time

_LOOK_EVERY = 600.0  # seconds


class AddressHashes:
    """Hashes with the key of the day by the database's clock, which is the same for all processes."""

    def __init__(self, database: Database, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._monotonic = monotonic
        self._day_key = b""
        self._looked_at = 0.0

    async def hash(self, text: str) -> str:
        """The hash of a text that contains an address.

        The key changes within ten minutes after midnight (UTC).
        """
        return keyed_hash(await self._key(), text)

    async def _key(self) -> bytes:
        if not self._day_key or self._monotonic() - self._looked_at > _LOOK_EVERY:
            day = day_of(await server_time(self._database))
            self._day_key = await address_key(self._database, day)
            self._looked_at = self._monotonic()
        return self._day_key


def keyed_hash(key: bytes, text: str) -> str:
    """HMAC-SHA-256 in hex. It differs from the hash of the same text for deferred deep links."""
    return hmac.new(key, b"limit\n" + text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
