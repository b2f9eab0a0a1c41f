"""Writes documents with an expiry date.

The date is right even if the organization's retention changes meanwhile.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from backend.domain.ids import OrgId
from backend.storage.accounts.organizations import find_retention_days
from backend.storage.driver.mongo import (
    ClientSession,
    Database,
    Document,
    begin,
    in_transaction,
    run_to_the_end,
)
from backend.storage.schema.collection import AgesFrom, Collection

# How many days each organization keeps what its visitors did; None is without limit.
Days = dict[OrgId, int | None]


@dataclass(frozen=True, slots=True)
class Written:
    """Documents of an organization that were written to a collection with a retention time."""

    collection: Collection
    org_id: OrgId
    condition: Document


async def write_dated(
    database: Database,
    org_ids: Iterable[OrgId],
    work: Callable[[ClientSession, Awaitable[Days]], Awaitable[Iterable[Written]]],
) -> None:
    """Run `work` in one transaction and give it the retention days of these organizations.

    `work` returns what it wrote. The retention days are read at the same time as the data that `work` reads;
    it awaits them when it needs them. If they are changed during the transaction, the change does not see the
    new documents. So they are read again afterwards, and if they differ, the documents get a new date.
    """
    await run_to_the_end(_write_dated(database, list(org_ids), work))


async def _write_dated(
    database: Database,
    org_ids: Sequence[OrgId],
    work: Callable[[ClientSession, Awaitable[Days]], Awaitable[Iterable[Written]]],
) -> None:
    async def work_with_days(session: ClientSession) -> list[Written]:
        return list(await work(session, reading))

    reading = begin(find_retention_days(database, org_ids))
    written = await in_transaction(database, work_with_days)
    await keep_dates_right(database, written, await reading)


async def keep_dates_right(database: Database, written: Iterable[Written], used: Days) -> None:
    """Give documents that were written with these retention days a new date, as long as the days change."""
    written, org_ids = list(written), list(used)
    while (days := await find_retention_days(database, org_ids)) != used:
        for write in written:
            if days.get(write.org_id) != used.get(write.org_id):
                await _date(database, write, days.get(write.org_id))
        used = days


async def _date(database: Database, written: Written, days: int | None) -> None:
    collection = written.collection
    assert isinstance(collection.retention, AgesFrom)
    condition = collection.scope(written.org_id) | written.condition
    await database[collection.name].update_many(condition, collection.retention.update(days))
