"""Keeps the columns of a host up to date while nobody asks, so that erased data leaves them, too."""

from __future__ import annotations

import time
from datetime import timedelta

from backend.storage.accounts.deleted_organizations import find_deleted
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.storage.processes.periodic_task import PeriodicTask

_DELETIONS_EVERY = timedelta(minutes=1)
_UPKEEP_SECONDS = 3600.0


def analytics_upkeep(database: Database, analytics: Analytics) -> PeriodicTask:
    """Brings the files of this host up to date once an hour, and a minute after an organization is deleted.

    If there are no files, no process is started.
    """
    due_at = time.monotonic() + _UPKEEP_SECONDS

    async def keep_up() -> None:
        nonlocal due_at
        org_ids = await analytics.org_ids()
        is_due = time.monotonic() > due_at
        if org_ids and (is_due or await find_deleted(database, org_ids)):
            due_at = time.monotonic() + _UPKEEP_SECONDS
            await analytics.keep_up()

    return PeriodicTask("keeping the columns of analytics true", keep_up, _DELETIONS_EVERY)
