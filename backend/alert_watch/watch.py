"""The background task of a service that looks at what alert rules are about."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

from backend.alert_watch.round import look
from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import UnknownOrganization
from backend.storage.alerts.firing import AlertChannels
from backend.storage.alerts.rules import watched_organizations
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.storage.processes.items import Items
from backend.storage.processes.leased_task import LeasedTask
from backend.storage.processes.work import Work
from backend.storage.schema.work_item import item_of_organization
from backend.system.clock import Clock

LEASE = "alerts"
# Longer than the pause between two rounds, so that one process makes them all, and than a look at the rules
# of one organization takes. If that takes longer still, another process tells of the same, and unique keys
# let one of them through.
_LEASE_DURATION = timedelta(minutes=10)
# Organizations that are looked at side by side, so that one with slow figures keeps fewer waiting.
_AT_ONCE = 4
# Seconds between two rounds, and before the first one: what a service does at its start comes first.
ROUND_SECONDS = 300.0
_FIRST_PAUSE = 20.0


class AlertWatch(LeasedTask):
    """Looks at what all alert rules are about, again and again, in one process at a time."""

    def __init__(
        self, database: Database, analytics: Analytics, channels: AlertChannels, clock: Clock
    ) -> None:
        super().__init__(Work.ALERTS, database, LEASE, _LEASE_DURATION, first_pause=_FIRST_PAUSE)
        self._analytics = analytics
        self._channels = channels
        self._clock = clock
        self._items = Items(database, Work.ALERTS)

    async def step(self) -> float:
        """Look at the rules of all organizations, and again after a while."""
        await self.look_at_all()
        return ROUND_SECONDS

    async def look_at_all(self) -> None:
        """Look once at the rules of all organizations, unless another process does."""
        if not await self.has_turn():
            return
        watched = iter(await watched_organizations(self._database))
        looking = (self._look_at_each(watched) for _ in range(_AT_ONCE))
        for error in await asyncio.gather(*looking, return_exceptions=True):
            if error:
                raise error

    async def _look_at_each(self, org_ids: Iterator[OrgId]) -> None:
        """Look at one after the other, as long as this process has the turn."""
        for org_id in org_ids:
            if not await self.has_turn():
                return
            await self._items.one(item_of_organization(org_id), self._look_at)

    async def _look_at(self, org_id: OrgId) -> None:
        with suppress(UnknownOrganization):  # it is just being deleted
            now = self._clock()
            await look(self._database, self._analytics, self._channels, org_id, now)
