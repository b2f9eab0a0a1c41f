"""Takes the clicks of a demo's history out of blocks and counts, a day in UTC at a time.

What a day's blocks have of other links then waits to be counted again. Each day is one transaction, so that
the counts are never those of half a day; days that are done have no such clicks any more, and who begins
again after an interruption leaves them out. Blocks keep their receipts: who checks the ledger finds that
clicks were taken out (docs/decisions/provable-counts.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from typing import TypeVar

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.click_block import Block, UnreadableBlock, block_of, unpack
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import DAY_SECONDS
from backend.storage import click_blocks, click_counts, install_counts, link_deltas, organization_counts
from backend.storage.click_blocks import Part
from backend.storage.click_folds import Busy, take
from backend.storage.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.ownership import ByLink

_DAY = timedelta(days=1)
_MOST_TRIES, _PAUSE = 100, 0.2
_LINKS_AT_ONCE = 100
ResultT = TypeVar("ResultT")


async def unless_busy(work: Callable[[], Awaitable[ResultT]]) -> ResultT:
    """What `work` gives; whoever counts the same clicks just now is waited for. Raises Busy in the end."""
    for _ in range(_MOST_TRIES):
        try:
            return await work()
        except Busy:
            await asyncio.sleep(_PAUSE)
    return await work()


async def remove_clicks(database: Database, org_id: OrgId, link_ids: Collection[LinkId]) -> int:
    """Remove all clicks and installs of these links of the organization. Returns how many requests.

    Can be done again after an interruption. Raises Busy.
    """
    removed = 0
    for day in await _days_of(database, org_id, link_ids):
        removed += await unless_busy(partial(_remove_day, database, org_id, link_ids, day))
    ids = sorted(link_ids)
    for start in range(0, len(ids), _LINKS_AT_ONCE):
        of_links = {"org_id": org_id} | ByLink().condition(ids[start : start + _LINKS_AT_ONCE])
        for name in (click_counts.NAME, install_counts.NAME):
            await database[name].delete_many(of_links)
    return removed


async def _days_of(database: Database, org_id: OrgId, link_ids: Collection[LinkId]) -> list[datetime]:
    """The days on which these links were asked for, each as its beginning."""
    days = set()
    async for found in database[click_blocks.NAME].find({"org_id": org_id}, {"packed": 1, "last_at": 1}):
        if not (await beside_the_loop(partial(_links_in, found))).isdisjoint(link_ids):
            days.add(found["last_at"].astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0))
    return sorted(days)


async def _remove_day(database: Database, org_id: OrgId, link_ids: Collection[LinkId], day: datetime) -> int:
    """Do so for one day, all or nothing."""
    blocks = database[click_blocks.NAME]
    removed = 0

    async def work(session: ClientSession) -> None:
        nonlocal removed
        removed = 0
        await take(database, session, [org_id])
        of_day = {"org_id": org_id, "last_at": {"$gte": day, "$lt": day + _DAY}}
        found = await blocks.find(of_day, {"packed": 1, "clicks": 1, "parts": 1}, session=session).to_list(
            None
        )
        counted: set[LinkId] = set()
        for each in found:
            counted |= _links_in(each)
            removed += await _remove_from_block(database, session, org_id, each, link_ids)
        waiting = {"org_id": org_id, "day": int(day.timestamp()) // DAY_SECONDS}
        await database[link_deltas.NAME].delete_many(waiting, session=session)
        await click_counts.ROLLUPS.remove_day(database, session, sorted(counted), day)
        await organization_counts.ROLLUPS.remove_day(database, session, [org_id], day)

    await in_transaction(database, work)
    return removed


async def _remove_from_block(
    database: Database,
    session: ClientSession,
    org_id: OrgId,
    found: Document,
    link_ids: Collection[LinkId],
) -> int:
    """Leave in a block what is not of these links, to be counted again. Returns how many requests went."""
    left = await beside_the_loop(partial(_without, found, org_id, link_ids))
    if left is None:
        return 0
    clicks, block, parts = left
    this, blocks = {"_id": found["_id"]}, database[click_blocks.NAME]
    if block is None:
        await blocks.delete_one(this, session=session)
        return clicks
    fields: Document = {"folded": False}
    if block.clicks < clicks:
        fields |= click_blocks.fields_of(block)
        if "parts" in found:
            fields["parts"] = click_blocks.merged_parts(parts)
    again = {"$set": fields, "$unset": {"counted_before": 1}}
    await blocks.update_one(this, again, session=session)
    return clicks - block.clicks


def _links_in(found: Document) -> set[LinkId]:
    """The links that a block has requests for; none if it can't be read."""
    try:
        return set(unpack(found["packed"]).links)
    except UnreadableBlock:
        return set()


def _without(
    found: Document, org_id: OrgId, link_ids: Collection[LinkId]
) -> tuple[int, Block | None, Sequence[Part]] | None:
    """How many requests the block has, and it without those for these links; None if it can't be read.

    There is no block where nothing is left; and what is left of each of its parts is the last that it gives.
    """
    try:
        clicks = list(unpack(found["packed"]).clicks(org_id))
    except UnreadableBlock:
        return None
    kept, parts, rest = [], [], iter(clicks)
    for part in click_blocks.parts_of(found):
        own = [each for each in islice(rest, part.clicks) if each.link_id not in link_ids]
        kept += own
        if own:
            parts.append(part._replace(clicks=len(own)))
    return len(clicks), block_of(org_id, kept) if kept else None, parts
