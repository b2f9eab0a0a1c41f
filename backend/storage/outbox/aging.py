"""Deletes entries of feeds whose facts have expired, so that they do not stay for ever.

What they named has gone by then, or goes at about the same time: records, devices and identities after the
organization's `retention_days`, clicks after its `click_days`. Entries about links stay, since they hold what
they say. A place is never given again (storage/outbox/heads), so that no cursor comes to mean something else.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from bson import Timestamp

from backend.domain.accounts.organizations import Organization
from backend.storage.accounts.organizations import list_organizations
from backend.storage.driver.mongo import Database
from backend.storage.outbox import entries
from backend.storage.outbox.entries import AgesBy
from backend.storage.processes.leases import take_lease
from backend.storage.processes.periodic_task import PeriodicTask
from backend.system.clock import Clock

LEASE = "feed_aging"
_EVERY = timedelta(hours=1)
_LOOK_EVERY = timedelta(minutes=5)
# What was noted late, or by another clock, stays a little longer than what it names; clicks are kept until
# their whole day is so old, and then until it is added up.
_SPARE = {AgesBy.CLICKS: timedelta(days=2), AgesBy.VISITORS: timedelta(days=1)}


def feed_aging(database: Database, clock: Clock) -> PeriodicTask:
    """Deletes old entries in the background, in one process of all, once an hour."""

    async def delete() -> None:
        # Nobody renews this lease, so that nobody else begins before the hour is over.
        if await take_lease(database, LEASE, uuid.uuid4().hex, _EVERY):
            await delete_expired(database, clock())

    return PeriodicTask("deleting what has expired in feeds", delete, _LOOK_EVERY)


async def delete_expired(database: Database, now: datetime) -> int:
    """Delete the entries whose facts have expired by this time, of all organizations. Returns how many.

    An entry that still waits for its place stays until it has one.
    """
    deleted = 0
    for organization in await list_organizations(database):
        for ages_by, days in _days_of(organization).items():
            if days is None:
                continue
            old = {
                "org_id": organization.id,
                "ages_by": ages_by.value,
                "stamp": {"$lt": Timestamp(now - timedelta(days=days) - _SPARE[ages_by], 0)},
                "place": {"$exists": True},
            }
            deleted += (await database[entries.NAME].delete_many(old)).deleted_count
    return deleted


def _days_of(organization: Organization) -> dict[AgesBy, int | None]:
    return {AgesBy.CLICKS: organization.click_days, AgesBy.VISITORS: organization.retention_days}
