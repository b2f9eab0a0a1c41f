"""The `rate_limits` collection: how many requests each key sent in its current minute, in all processes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import Storage
from limits.aio.strategies import FixedWindowRateLimiter
from pymongo import IndexModel, ReturnDocument, WriteConcern
from pymongo.errors import PyMongoError

from backend.storage.collection import Collection, NoRetention, NotArchived, NotPersonal
from backend.storage.mongo import Database
from backend.storage.ownership import Nobodys

NAME = "rate_limits"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("ends_at", expireAfterSeconds=0)],
    owned_by=Nobodys("limits are the installation's"),
    personal=NotPersonal("gone within minutes"),
    retention=NoRetention("gone within minutes"),
    archived=NotArchived("gone within minutes"),
)
_log = logging.getLogger("waylink.rate_limits")


@dataclass(frozen=True, slots=True)
class RateLimitState:
    """Where a key stands after a request: requests left, and seconds until the window ends."""

    allowed: bool
    limit: int
    remaining: int
    reset_after: int


class RateLimits:
    """Counts requests against `per_minute`; a window begins with a key's first request.

    The count is kept in MongoDB, so that all processes share it, at one write a request that waits for no
    journal. Once a window is used up, requests are refused from memory. Where the store fails, or takes
    longer than `PATIENCE` seconds, requests are let through: a limiter must not take the service down.
    """

    PATIENCE = 0.5

    def __init__(self, database: Database, per_minute: int, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._item: RateLimitItem = RateLimitItemPerMinute(per_minute)
        self._windows = _SharedWindows(database, clock)
        self._limiter = FixedWindowRateLimiter(self._windows)
        self._failing = False

    async def count_request(self, key_id: str) -> RateLimitState:
        """Count a request of this key, and say whether it may go on."""
        try:
            async with asyncio.timeout(self.PATIENCE):
                state = await self._count(key_id)
        except (PyMongoError, TimeoutError) as error:
            self._log_change(failing=True, reason=type(error).__name__)
            return RateLimitState(True, self._item.amount, self._item.amount, self._item.get_expiry())
        self._log_change(failing=False)
        return state

    async def _count(self, key_id: str) -> RateLimitState:
        used_up = not await self._limiter.test(self._item, key_id)
        allowed = not used_up and await self._limiter.hit(self._item, key_id)
        stats = await self._limiter.get_window_stats(self._item, key_id)
        reset_after = max(1, round(stats.reset_time - self._clock().timestamp() + 0.5))
        return RateLimitState(allowed, self._item.amount, stats.remaining, reset_after)

    def _log_change(self, *, failing: bool, reason: str = "") -> None:
        if failing and not self._failing:
            _log.warning("Rate limits are not enforced: their store fails (%s)", reason)
        elif self._failing and not failing:
            _log.warning("Rate limits are enforced again")
        self._failing = failing


class _SharedWindows(Storage):
    """Windows in MongoDB. What `incr` brought back last is what `get` and `get_expiry` tell, without a query:
    it is as new as the request that asks."""

    STORAGE_SCHEME = None
    CAPACITY = 10_000

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        super().__init__()
        self._windows = database.get_collection(NAME, write_concern=WriteConcern(w=1, j=False))
        self._clock = clock
        self._latest: dict[str, tuple[int, datetime]] = {}

    @property
    def base_exceptions(self) -> type[Exception]:
        """What the library may wrap; we don't let it."""
        return PyMongoError

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Add to the key's count; a window that has ended begins anew and lasts `expiry` seconds."""
        now = self._clock()
        goes_on = {"$gt": ["$ends_at", now]}
        changes = {
            "count": {"$cond": [goes_on, {"$add": ["$count", amount]}, amount]},
            "ends_at": {"$cond": [goes_on, "$ends_at", now + timedelta(seconds=expiry)]},
        }
        window = await self._windows.find_one_and_update(
            {"_id": key}, [{"$set": changes}], upsert=True, return_document=ReturnDocument.AFTER
        )
        self._remember(key, window["count"], window["ends_at"])
        return int(window["count"])

    def _remember(self, key: str, count: int, ends_at: datetime) -> None:
        if len(self._latest) >= self.CAPACITY:
            self._latest.clear()
        self._latest[key] = (count, ends_at)

    async def get(self, key: str) -> int:
        """The key's count when it was last counted here; 0 once the window has ended."""
        count, ends_at = self._latest.get(key, (0, self._clock()))
        return count if self._clock() < ends_at else 0

    async def get_expiry(self, key: str) -> float:
        """When the key's window ends, in seconds since 1970."""
        _, ends_at = self._latest.get(key, (0, self._clock()))
        return ends_at.timestamp()

    async def check(self) -> bool:
        """Whether the store answers."""
        return bool(await self._windows.database.command("ping"))

    async def reset(self) -> int | None:
        """Forget every window."""
        self._latest.clear()
        return (await self._windows.delete_many({})).deleted_count

    async def clear(self, key: str) -> None:
        """Forget the key's window."""
        self._latest.pop(key, None)
        await self._windows.delete_one({"_id": key})
