"""Days whose single clicks an organization keeps no longer: they are added up, and their blocks go.

A transaction deletes blocks of one day, stores the summaries of their clicks (domain/clicks/summary), and
notes both in the feed. So whatever is killed, each click is in a block or in a summary, and in one of them.
Large days take several transactions, and so do blocks that come late.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.clicks.block import DAY_MS, UnreadableBlock, moment, unpack
from backend.domain.clicks.summary import DaySum
from backend.domain.clicks.visitor_numbers import VisitorNumbers
from backend.domain.feed.facts import summary_fact
from backend.domain.ids import OrgId
from backend.storage.accounts.deleted_organizations import find_deleted
from backend.storage.accounts.organizations import find_click_days, list_organizations
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.address_keys import summing_key
from backend.storage.clicks.blocks import BlocksChanged, delete_unchanged, mark_unreadable, parts_of
from backend.storage.clicks.summaries import insert_summaries
from backend.storage.driver.mongo import (
    ClientSession,
    Database,
    Document,
    StorageError,
    in_transaction,
    is_unreachable,
    server_time,
)
from backend.storage.outbox import entries
from backend.storage.processes.leases import take_lease
from backend.storage.processes.periodic_task import PeriodicTask

LEASE = "expired_days"
_EVERY = timedelta(hours=1)
_LOOK_EVERY = timedelta(minutes=5)
_READABLE: Document = {"is_unreadable": {"$ne": True}}
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one transaction adds up at most, if it is more than one block.

    `blocks` are those that were stored first, before they were merged: the feed names them all.
    """

    clicks: int = 50_000
    blocks: int = 2_000


def expired_days(database: Database) -> PeriodicTask:
    """Adds up days in the background, in one process of all, once an hour.

    By MongoDB's clock: that of a host may be wrong, and single clicks don't come back.
    """

    async def add_up() -> None:
        # Nobody renews this lease, so that nobody else begins before the hour is over.
        if await take_lease(database, LEASE, uuid.uuid4().hex, _EVERY):
            await sum_all(database, await server_time(database))

    return PeriodicTask("adding up days whose single clicks have expired", add_up, _LOOK_EVERY)


async def sum_all(database: Database, now: datetime) -> int:
    """Do so for all organizations but those that are being restored or deleted. Returns how many requests."""
    clicks = 0
    for organization in await list_organizations(database):
        try:
            clicks += await sum_expired(database, organization.id, now)
        except StorageError as error:
            if is_unreachable(error):
                raise
            _logger.exception("Days of the organization %s can't be added up", organization.id)
    return clicks


async def sum_expired(database: Database, org_id: OrgId, now: datetime, bounds: Bounds | None = None) -> int:
    """Add up the organization's days that have ended its `click_days` ago, at `now`, or before.

    Returns how many requests were added up. Blocks that somebody else is at work on wait for another time.
    Raises StorageError.
    """
    clicks = 0
    while (end := await _kept_since(database, org_id, now)) is not None:
        part = await _next_part(database, org_id, end, bounds or Bounds())
        if part is None:
            break
        try:
            clicks += await _replace(database, org_id, part)
        except BlocksChanged:
            break
    return clicks


async def _kept_since(database: Database, org_id: OrgId, now: datetime) -> datetime | None:
    """The beginning of the first day whose single clicks are kept at `now`; None if all are."""
    days = (await find_click_days(database, [org_id]))[org_id]
    if days is None:
        return None
    return datetime.combine((now - timedelta(days=days)).astimezone(UTC).date(), time(), UTC)


@dataclass(frozen=True, slots=True)
class _Part:
    """Blocks of one day, counted from 1970, that are added up at once."""

    day: int
    blocks: Sequence[Document]
    sum: DaySum


async def _next_part(database: Database, org_id: OrgId, end: datetime, bounds: Bounds) -> _Part | None:
    """The first blocks before `end` that can be read, of one day; None if there are none."""
    while blocks := await _first_blocks(database, org_id, end, bounds):
        day = _day_of(blocks[0])
        added, readable = DaySum(day), []
        for each in blocks:
            try:
                await beside_the_loop(partial(_add, added, each))
            except UnreadableBlock as error:
                _logger.error("The block %s of clicks can't be read any more: %s", each["_id"], error)
                await mark_unreadable(database, [each["_id"]])
            else:
                readable.append(each)
        if readable:
            return _Part(day, readable, added)
    return None


def _add(added: DaySum, block: Document) -> None:
    added.add(unpack(block["packed"]))


def _day_of(block: Document) -> int:
    last_at: datetime = block["last_at"]
    return int(last_at.timestamp()) * 1000 // DAY_MS


async def _first_blocks(
    database: Database, org_id: OrgId, end: datetime, bounds: Bounds
) -> Sequence[Document]:
    """The oldest blocks before `end`, of one day and within the bounds, but at least one."""
    wanted = {"org_id": org_id, "last_at": {"$lt": end}} | _READABLE
    fields = ("packed", "clicks", "parts", "last_at")
    cursor = database[click_blocks.NAME].find(wanted, fields, limit=bounds.blocks).sort("last_at", 1)
    found: list[Document] = []
    clicks = blocks = 0
    try:
        async for each in cursor:
            clicks += each["clicks"]
            blocks += len(parts_of(each))
            if found and (
                clicks > bounds.clicks or blocks > bounds.blocks or _day_of(each) > _day_of(found[0])
            ):
                break
            found.append(each)
    finally:
        await cursor.close()
    return found


async def _replace(database: Database, org_id: OrgId, part: _Part) -> int:
    """Put summaries in place of the blocks, all or nothing. Returns how many requests that were.

    Raises BlocksChanged.
    """
    now = await server_time(database)
    key = await summing_key(database, f"{moment(part.day * DAY_MS):%Y-%m-%d}", now)
    summaries = await beside_the_loop(lambda: part.sum.summaries(VisitorNumbers(key)))
    named = [(uuid.uuid4().hex, each) for each in summaries]
    own_ids = [own_id for own_id, _ in named]
    fact = summary_fact(part.day, own_ids, [own.id for each in part.blocks for own in parts_of(each)])

    async def work(session: ClientSession) -> None:
        if await find_deleted(database, [org_id], session):
            raise BlocksChanged
        await delete_unchanged(database, session, org_id, part.blocks)
        await insert_summaries(database, session, org_id, named)
        await entries.note(database, session, {org_id: [fact]}, expires_at=now + entries.REMOVAL_FACTS_KEPT)

    await in_transaction(database, work)
    return sum(each.clicks for each in summaries)
