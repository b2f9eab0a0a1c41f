"""The `heartbeats` collection: each process sees its own writes come back through the change stream.

A change stream may be connected to a member that has fallen behind and reports "nothing new" for ever. A
heartbeat that comes back proves that all changes confirmed before it was written have come through too.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from itertools import islice

from pymongo import IndexModel, WriteConcern

from backend.storage.driver.deadlines import deadline
from backend.storage.driver.mongo import Database, StorageError
from backend.storage.schema.collection import Collection, NoRetention, NotArchived, NotPersonal, NotSharded
from backend.storage.schema.ownership import NotOwned
from backend.system.clock import Clock

NAME = "heartbeats"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("at", expireAfterSeconds=3600)],
    owned_by=NotOwned("they are the installation's processes'"),
    personal=NotPersonal("numbers"),
    retention=NoRetention("gone within hours"),
    archived=NotArchived("gone within hours"),
    shard_key=NotSharded("gone within hours"),
)
_EVERY = 0.4  # seconds
_PATIENCE = 1.0
_MOST_ON_THEIR_WAY = 1000


class HeartbeatWriter:
    """Writes heartbeats and notes which of them came back. The times it tells are of `time.monotonic`."""

    def __init__(self, database: Database, clock: Clock, on_stored: Callable[[], None]) -> None:
        """`on_stored` is called whenever one is stored, so MongoDB answers."""
        # No need to wait for a majority: only confirmed writes come through a change stream.
        self._beats = database.get_collection(NAME, write_concern=WriteConcern(w=1))
        self.id = uuid.uuid4().hex
        self._clock = clock
        self._on_stored = on_stored
        self._number = 0
        self._on_their_way: dict[int, tuple[float, float]] = {}

    async def keep_writing(self) -> None:
        """Write heartbeats until cancelled."""
        while True:
            self._number += 1
            await self._beat(self._number)
            await asyncio.sleep(_EVERY)

    async def _beat(self, number: int) -> None:
        began = time.monotonic()
        # Of the minute, so that all but the first in it leave the index alone.
        document = {"number": number, "at": self._clock().replace(second=0, microsecond=0)}
        try:
            with deadline(_PATIENCE):
                await self._beats.replace_one({"_id": self.id}, document, upsert=True)
        except StorageError:
            return  # others find out that the database is away
        self._on_their_way[number] = began, time.monotonic()
        self._on_stored()
        if len(self._on_their_way) > _MOST_ON_THEIR_WAY:
            # The oldest stays: it says since when none comes back.
            del self._on_their_way[next(islice(self._on_their_way, 1, None))]

    @property
    def waiting_since(self) -> float | None:
        """When the oldest heartbeat that has not come back was stored; None if all have come back."""
        return next((stored for _, stored in self._on_their_way.values()), None)

    def take_back(self, number: int) -> float | None:
        """Note that this heartbeat, and with it all earlier ones, has come back.

        Returns when its write began; None if that is not known here.
        """
        began, _ = self._on_their_way.get(number, (None, None))
        self._on_their_way = {n: times for n, times in self._on_their_way.items() if n > number}
        return began
