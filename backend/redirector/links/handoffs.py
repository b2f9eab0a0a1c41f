"""Handoffs of clicks to apps that are not installed yet."""

from __future__ import annotations

from datetime import timedelta

from backend.domain.apps.deferred_links import LEADS_TO_APP, Handoff, app_id_on, hash_address
from backend.domain.clicks.clicks import NotCounted
from backend.domain.links.destinations.destination import Outcome
from backend.redirector.links.cached_link import CachedLink
from backend.redirector.request.arrival import Arrival
from backend.redirector.request.daily_keys import DailyKeys
from backend.storage.clicks.address_keys import address_key
from backend.storage.driver.mongo import Database
from backend.system.clock import Clock


class Handoffs:
    """Creates handoffs without a query: the keys that hash addresses are in memory."""

    def __init__(self, database: Database, clock: Clock, seconds: float) -> None:
        self._window = timedelta(seconds=seconds)
        self._keys = DailyKeys(database, clock, "deferred deep links", address_key)

    async def start(self) -> None:
        """Read the keys, unless handoffs are turned off."""
        if self._window:
            await self._keys.start()

    async def stop(self) -> None:
        """Stop reading keys."""
        await self._keys.stop()

    @property
    def failures(self) -> list[str]:
        """A description of the error if the keys can't be read now."""
        return self._keys.failures

    def handoff(
        self,
        outcome: Outcome,
        reason: NotCounted | None,
        entry: CachedLink,
        arrival: Arrival,
    ) -> Handoff | None:
        """What to remember of this click for the app that it leads to; None if it leads to no app.

        Also None if the day's key could not be read: an address is never hashed without a key.
        """
        if reason or outcome not in LEADS_TO_APP:
            return None
        key = self._keys.of_day(arrival.at)
        app_id = app_id_on(entry.apps, arrival.client.platform)
        hashed = hash_address(key, entry.link.org_id, arrival.address) if key else None
        return Handoff(app_id, hashed, arrival.at + self._window) if hashed and app_id else None
