"""Keeps the columns of a host up to date while nobody asks, so that erased data leaves them, too."""

from __future__ import annotations

from datetime import timedelta

from backend.storage.accounts.deleted_organizations import find_deleted
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.storage.processes.periodic_task import PeriodicTask
from backend.storage.processes.work import Work
from backend.system.clock import Clock

_LOOK_EVERY = timedelta(minutes=1)
# What is erased is to be gone within an hour, with the time that this takes, and another try or two.
_UPKEEP_EVERY = timedelta(minutes=45)


def analytics_upkeep(database: Database, analytics: Analytics, clock: Clock) -> PeriodicTask:
    """Has the files of this host kept up three quarters of an hour after they were last, whoever did that,
    and a minute after an organization is deleted.

    If there are no files, and nothing is left of a process that was killed, no process is started.
    """

    async def keep_up() -> None:
        org_ids = await analytics.org_ids()
        is_needed = is_due() and (org_ids or await analytics.has_left())
        if is_needed or (org_ids and await find_deleted(database, org_ids)):
            await analytics.keep_up()

    def is_due() -> bool:
        kept_up_at = analytics.kept_up_at()
        return kept_up_at is None or abs(clock() - kept_up_at) > _UPKEEP_EVERY

    return PeriodicTask(Work.COLUMNS, keep_up, _LOOK_EVERY)
