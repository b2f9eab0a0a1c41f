"""What an organization keeps of its visitors at a moment, whatever MongoDB has not deleted yet.

Time, or a shorter retention, ends it at once. The documents go some time later: after a shorter retention
they get another date first, and MongoDB looks for what has expired once a minute. Figures go by the moment,
and so does whoever reads a single sale or customer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from backend.domain.ids import OrgId
from backend.domain.visitors.attribution import Device
from backend.storage.accounts.organizations import find_retention_days
from backend.storage.driver.mongo import Database, Document
from backend.storage.schema.collection import AgesFrom

KeyT = TypeVar("KeyT")


@dataclass(frozen=True, slots=True)
class Kept:
    """What ages from `since` or a later time is kept; None: everything is."""

    since: datetime | None

    @classmethod
    def at(cls, now: datetime, days: int | None) -> Kept:
        """What an organization with this retention, in days, keeps at a time."""
        return cls(None if days is None else now - timedelta(days=days))

    def condition(self, retention: AgesFrom) -> Document:
        """The condition on documents of a collection with this retention."""
        return {} if self.since is None else {retention.field: {"$gte": self.since}}

    def devices(self, devices: Mapping[KeyT, Device]) -> dict[KeyT, Device]:
        """Those of these devices that are kept."""
        since = self.since
        return {
            key: device for key, device in devices.items() if since is None or device.last_seen_at >= since
        }


async def kept_by(database: Database, org_id: OrgId, now: datetime) -> Kept:
    """What the organization keeps at this time."""
    return Kept.at(now, (await find_retention_days(database, [org_id])).get(org_id))
