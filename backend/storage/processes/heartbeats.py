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
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.schema.audited import NotAudited
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
    audited=NotAudited("the service's own notes for its work"),
)
_INTERVAL = 0.4  # seconds
_WRITE_TIMEOUT = 1.0
_MOST_OUTSTANDING = 1000


class HeartbeatWriter:
    """Writes heartbeats and notes which of them came back. The times it tells are of `time.monotonic`."""

    def __init__(self, database: Database, clock: Clock, on_stored: Callable[[], None]) -> None:
        """`on_stored` is called whenever a heartbeat is stored, which shows that MongoDB answers."""
        # No need to wait for a majority: only confirmed writes come through a change stream.
        self._beats = unrecorded(database).get_collection(NAME, write_concern=WriteConcern(w=1))
        self.id = uuid.uuid4().hex
        self._clock = clock
        self._on_stored = on_stored
        self._number = 0
        self._outstanding: dict[int, tuple[float, float]] = {}

    async def keep_writing(self) -> None:
        """Write heartbeats until cancelled."""
        while True:
            self._number += 1
            await self._beat(self._number)
            await asyncio.sleep(_INTERVAL)

    async def _beat(self, number: int) -> None:
        began = time.monotonic()
        # In whole minutes, so that only the first heartbeat of a minute changes the index.
        document = {"number": number, "at": self._clock().replace(second=0, microsecond=0)}
        try:
            with deadline(_WRITE_TIMEOUT):
                await self._beats.replace_one({"_id": self.id}, document, upsert=True)
        except StorageError:
            return  # the health check (driver/pulse) finds out that the database is away
        self._outstanding[number] = began, time.monotonic()
        self._on_stored()
        if len(self._outstanding) > _MOST_OUTSTANDING:
            # The oldest is kept: it says since when no heartbeat has come back.
            del self._outstanding[next(islice(self._outstanding, 1, None))]

    @property
    def waiting_since(self) -> float | None:
        """When the oldest heartbeat that has not come back was stored; None if all have come back."""
        return next((stored for _, stored in self._outstanding.values()), None)

    def take_back(self, number: int) -> float | None:
        """Note that this heartbeat, and with it all earlier ones, has come back.

        Returns when its write began; None for a heartbeat that this writer does not know.
        """
        began, _ = self._outstanding.get(number, (None, None))
        self._outstanding = {n: times for n, times in self._outstanding.items() if n > number}
        return began
