"""Replaces the blocks of days whose single clicks have expired by summaries.

A transaction deletes blocks of one day, stores the summaries of their clicks (domain/clicks/summary), and
notes both in the feed. So each click is either in a block or in a summary, whatever process is killed.
Large days take several transactions, and blocks that arrive late take another one.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import partial

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.accounts.organizations import Organization
from backend.domain.clicks.block import DAY_MS, UnreadableBlock, moment, unpack
from backend.domain.clicks.summary import DaySum
from backend.domain.clicks.visitor_numbers import VisitorNumbers
from backend.domain.feed.facts import summary_fact
from backend.domain.ids import OrgId
from backend.storage.accounts.deleted_organizations import find_deleted
from backend.storage.accounts.organizations import find_organizations, organization_items
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.address_keys import summing_key
from backend.storage.clicks.blocks import BlocksChanged, delete_unchanged, mark_unreadable, parts_of
from backend.storage.clicks.summaries import insert_summaries
from backend.storage.driver.mongo import (
    ClientSession,
    Database,
    Document,
    in_transaction,
    server_time,
)
from backend.storage.outbox import entries
from backend.storage.processes.items import Items
from backend.storage.processes.leases import take_lease
from backend.storage.processes.periodic_task import PeriodicTask
from backend.storage.processes.work import Work

LEASE = "expired_days"
_INTERVAL = timedelta(hours=1)
_CHECK_INTERVAL = timedelta(minutes=5)
_READABLE: Document = {"is_unreadable": {"$ne": True}}
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that one transaction adds up, where it takes more than one block.

    A merged block counts as the blocks that it was merged from, since the feed names them all.
    """

    clicks: int = 50_000
    blocks: int = 2_000


def expired_days(database: Database) -> PeriodicTask:
    """The task that adds up expired days in the background, once an hour and in one process at a time.

    It uses MongoDB's clock, since a host's clock may be wrong and deleted clicks don't come back.
    """

    async def add_up() -> None:
        # The lease is not renewed, so no process begins again before the hour is over.
        if await take_lease(database, LEASE, uuid.uuid4().hex, _INTERVAL):
            await sum_all(database, await server_time(database))

    return PeriodicTask(Work.EXPIRED_DAYS, add_up, _CHECK_INTERVAL)


async def sum_all(database: Database, now: datetime) -> int:
    """Add up the expired days of all organizations that are not being restored or deleted.

    Returns how many requests were added up.
    """
    clicks = 0

    async def add_up(organization: Organization) -> AsyncGenerator[None, None]:
        nonlocal clicks
        async for added_up in _summed(database, organization.id, now, Bounds()):
            clicks += added_up
            yield

    await Items(database, Work.EXPIRED_DAYS).in_turns(await organization_items(database), add_up)
    return clicks


async def sum_expired(database: Database, org_id: OrgId, now: datetime, bounds: Bounds | None = None) -> int:
    """Add up the organization's days that ended at least its `click_days` before `now`.

    Returns how many requests were added up. Blocks that another process changes meanwhile stay for the next
    run. Raises StorageError.
    """
    return sum([clicks async for clicks in _summed(database, org_id, now, bounds or Bounds())])


async def _summed(
    database: Database, org_id: OrgId, now: datetime, bounds: Bounds
) -> AsyncGenerator[int, None]:
    """As `sum_expired`; after each transaction, how many requests it added up."""
    while (end := await _kept_since(database, org_id, now)) is not None:
        batch = await _next_batch(database, org_id, end, bounds)
        if batch is None:
            return
        try:
            yield await _replace(database, org_id, batch)
        except BlocksChanged:
            return


async def _kept_since(database: Database, org_id: OrgId, now: datetime) -> datetime | None:
    """The beginning of the first day whose single clicks are kept at `now`; None if all are.

    An organization that does not exist may be restored just now, and nobody knows yet how long it keeps them.
    """
    found = await find_organizations(database, [org_id])
    days = found[0].click_days if found else None
    if days is None:
        return None
    return datetime.combine((now - timedelta(days=days)).astimezone(UTC).date(), time(), UTC)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Blocks that one transaction adds up, all of one `day`, which is counted from 1970."""

    day: int
    blocks: Sequence[Document]
    sum: DaySum


async def _next_batch(database: Database, org_id: OrgId, end: datetime, bounds: Bounds) -> _Batch | None:
    """The next blocks before `end` to add up, of one day; None if there are none that can be read."""
    while blocks := await _first_blocks(database, org_id, end, bounds):
        day = _day_of(blocks[0])
        day_sum, readable = DaySum(day), []
        for block in blocks:
            try:
                await LONG_WORK.run(org_id, partial(_add, day_sum, block))
            except UnreadableBlock as error:
                _logger.error("The block %s of clicks can't be read any more: %s", block["_id"], error)
                await mark_unreadable(database, [block["_id"]])
            else:
                readable.append(block)
        if readable:
            return _Batch(day, readable, day_sum)
    return None


def _add(day_sum: DaySum, block: Document) -> None:
    day_sum.add(unpack(block["packed"]))


def _day_of(block: Document) -> int:
    last_at: datetime = block["last_at"]
    return int(last_at.timestamp()) * 1000 // DAY_MS


async def _first_blocks(
    database: Database, org_id: OrgId, end: datetime, bounds: Bounds
) -> Sequence[Document]:
    """The oldest blocks before `end`, of one day and within the bounds, but at least one."""
    query = {"org_id": org_id, "last_at": {"$lt": end}} | _READABLE
    fields = ("packed", "clicks", "parts", "last_at")
    cursor = database[click_blocks.NAME].find(query, fields, limit=bounds.blocks).sort("last_at", 1)
    batch: list[Document] = []
    clicks = blocks = 0
    try:
        async for block in cursor:
            clicks += block["clicks"]
            blocks += len(parts_of(block))
            if batch and (
                clicks > bounds.clicks or blocks > bounds.blocks or _day_of(block) > _day_of(batch[0])
            ):
                break
            batch.append(block)
    finally:
        await cursor.close()
    return batch


async def _replace(database: Database, org_id: OrgId, batch: _Batch) -> int:
    """Replace the blocks by summaries, all or nothing. Returns how many requests they have.

    Raises BlocksChanged.
    """
    now = await server_time(database)
    key = await summing_key(database, f"{moment(batch.day * DAY_MS):%Y-%m-%d}", now)
    summaries = await LONG_WORK.run(org_id, lambda: batch.sum.summaries(VisitorNumbers(key)))
    named_summaries = [(uuid.uuid4().hex, summary) for summary in summaries]
    own_ids = [own_id for own_id, _ in named_summaries]
    fact = summary_fact(batch.day, own_ids, [part.id for block in batch.blocks for part in parts_of(block)])

    async def work(session: ClientSession) -> None:
        if await find_deleted(database, [org_id], session):
            raise BlocksChanged
        await delete_unchanged(database, session, org_id, batch.blocks)
        await insert_summaries(database, session, org_id, named_summaries)
        await entries.note(database, session, {org_id: [fact]}, expires_at=now + entries.REMOVAL_FACTS_KEPT)

    await in_transaction(database, work)
    return sum(summary.clicks for summary in summaries)
