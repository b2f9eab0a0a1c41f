"""Deletes entries of feeds whose facts have expired, so that they do not stay for ever.

The documents that these facts name are gone by then, or go at about the same time: records, devices and
identities after the organization's `retention_days`, clicks after its `click_days`. Entries about links stay,
since they have copies of the links. A place is never given again (storage/outbox/heads), so no cursor comes
to mean another entry.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from datetime import datetime, timedelta

from bson import Timestamp

from backend.domain.accounts.organizations import Organization
from backend.storage.accounts.organizations import organization_items
from backend.storage.driver.deletion import delete_in_pieces
from backend.storage.driver.mongo import Database, server_time
from backend.storage.outbox import entries
from backend.storage.outbox.entries import AgesBy
from backend.storage.processes.items import Items
from backend.storage.processes.leases import take_lease
from backend.storage.processes.periodic_task import PeriodicTask
from backend.storage.processes.work import Work

LEASE = "feed_aging"
_INTERVAL = timedelta(hours=1)
_POLL_INTERVAL = timedelta(minutes=5)
# How much longer than its documents an entry is kept, since it may have been written late, or by another
# clock. Clicks are kept until their whole day has expired, and then until they are added up.
_EXTRA_TIME = {
    AgesBy.CLICKS: timedelta(days=2),
    AgesBy.VISITORS: timedelta(days=1),
    AgesBy.AUDIT: timedelta(days=1),
}


def feed_aging(database: Database) -> PeriodicTask:
    """Deletes old entries in the background, in one process of all, once an hour.

    It uses MongoDB's clock, since a host's clock may be wrong and what is deleted does not come back.
    """

    async def delete() -> None:
        # The lease is neither renewed nor ended, so that no process begins again before the hour is over.
        if await take_lease(database, LEASE, uuid.uuid4().hex, _INTERVAL):
            await delete_expired(database, await server_time(database))

    return PeriodicTask(Work.FEED_AGING, delete, _POLL_INTERVAL)


async def delete_expired(database: Database, now: datetime) -> int:
    """Delete the entries whose facts have expired by this time, of all organizations. Returns how many.

    An entry that still waits for its place stays until it has one.
    """
    deleted = 0

    async def delete(organization: Organization) -> AsyncGenerator[None, None]:
        nonlocal deleted
        for ages_by, days in _days_of(organization).items():
            if days is None:
                continue
            old = {
                "org_id": organization.id,
                "ages_by": ages_by.value,
                "stamp": {"$lt": Timestamp(now - timedelta(days=days) - _EXTRA_TIME[ages_by], 0)},
                "place": {"$exists": True},
            }
            async for of_piece in delete_in_pieces(database, entries.NAME, old):
                deleted += of_piece
                yield

    await Items(database, Work.FEED_AGING).in_turns(await organization_items(database), delete)
    return deleted


def _days_of(organization: Organization) -> dict[AgesBy, int | None]:
    return {
        AgesBy.CLICKS: organization.click_days,
        AgesBy.VISITORS: organization.retention_days,
        AgesBy.AUDIT: organization.audit_days,
    }
