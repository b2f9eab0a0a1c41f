"""Writes of what ages: each document gets the date that its organization's retention says, also when that is
set in the same moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from backend.storage.collection import AgesFrom, Collection
from backend.storage.mongo import Database, Document, Session, in_transaction
from backend.storage.organizations import find_retention_days

# How many days each organization keeps what its visitors did; None is without limit.
Days = dict[str, int | None]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written of an organization to a collection that ages."""

    collection: Collection
    org_id: str
    condition: Document


async def write_dated(
    database: Database, org_ids: Iterable[str], work: Callable[[Session, Days], Awaitable[Iterable[Written]]]
) -> None:
    """Run `work` in one transaction, with the retention of these organizations; it gives what it wrote.

    A retention that is set meanwhile does not see what the transaction has not committed yet. So the days are
    read again behind it, and what it wrote is dated anew where they have changed.
    """
    used: Days = {}
    written: list[Written] = []

    async def work_with_days(session: Session) -> None:
        nonlocal used, written
        used = await find_retention_days(database, org_ids, session)
        written = list(await work(session, used))

    await in_transaction(database, work_with_days)
    while (days := await find_retention_days(database, org_ids)) != used:
        for each in written:
            if days.get(each.org_id) != used.get(each.org_id):
                await _date(database, each, days.get(each.org_id))
        used = days


async def _date(database: Database, written: Written, days: int | None) -> None:
    collection = written.collection
    assert isinstance(collection.retention, AgesFrom)
    condition = collection.scope(written.org_id) | written.condition
    await database[collection.name].update_many(condition, collection.retention.update(days))
