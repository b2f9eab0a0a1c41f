"""Writes of what ages: each document gets the date that its organization's retention says, also when that is
set in the same moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from backend.storage.collection import AgesFrom, Collection
from backend.storage.mongo import Database, Document, Session, begin, in_transaction, run_to_the_end
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
    database: Database,
    org_ids: Iterable[str],
    work: Callable[[Session, Awaitable[Days]], Awaitable[Iterable[Written]]],
) -> None:
    """Run `work` in one transaction, with the retention of these organizations; it gives what it wrote.

    The retention is read beside what the transaction reads itself, and awaited where it is needed. One that
    is set meanwhile does not see what is not committed yet. So it is read again behind the transaction, and
    what that wrote is dated anew where it has changed.
    """
    await run_to_the_end(_write_dated(database, list(org_ids), work))


async def _write_dated(
    database: Database,
    org_ids: Sequence[str],
    work: Callable[[Session, Awaitable[Days]], Awaitable[Iterable[Written]]],
) -> None:
    written: list[Written] = []

    async def work_with_days(session: Session) -> None:
        nonlocal written
        written = list(await work(session, reading))

    reading = begin(find_retention_days(database, org_ids))
    await in_transaction(database, work_with_days)
    used = await reading
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
