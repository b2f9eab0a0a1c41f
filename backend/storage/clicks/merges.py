"""Merges small blocks of clicks into larger ones, so that a quiet service does not keep a document for each
click.

Blocks of one organization and day are merged in one transaction. Their clicks stay the same and keep their
order, so that each block can be found and proved in the merged one.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.clicks.block import UnreadableBlock, merged, unpack
from backend.domain.ids import OrgId
from backend.storage.accounts.restores import unfinished_restores
from backend.storage.clicks.blocks import (
    NAME,
    SMALL_BLOCK_CLICKS,
    SMALL_BLOCKS,
    BlocksChanged,
    delete_unchanged,
    fields_of,
    mark_unreadable,
    merged_parts,
    parts_of,
)
from backend.storage.driver.mongo import (
    ClientSession,
    Database,
    Document,
    in_transaction,
    server_time,
)
from backend.storage.processes.items import Items
from backend.storage.processes.leases import take_lease
from backend.storage.processes.periodic_task import PeriodicTask
from backend.storage.processes.work import Work
from backend.storage.schema.work_item import item_of_organization

LEASE, LEASE_OF_ALL = "click_merges", "all_click_merges"
_INTERVAL, _ALL_INTERVAL = timedelta(minutes=1), timedelta(hours=1)
# Somewhat shorter than the interval, or every second run would find the lease still taken.
_LEASE_TIME = timedelta(seconds=50)
# How long a run goes on with organizations that have very many, while others come to have some.
_MOST_SECONDS = 300.0
# An organization with this many small blocks does not wait for the hourly run.
MANY_SMALL_BLOCKS = 100
# The most blocks that are read at once.
_BLOCKS_PER_READ = 1_000
# So long after a day, more of its clicks may arrive from a log that was left behind or from another host.
_OPEN_FOR = timedelta(days=2)
_logger = logging.getLogger(__name__)


def click_merges(database: Database) -> PeriodicTask:
    """Merges small blocks in the background, in one process of all at a time."""
    return PeriodicTask(Work.BLOCKS, lambda: _merge_due(database), _INTERVAL)


async def _merge_due(database: Database) -> None:
    """Merge the blocks of organizations with many small ones, and once an hour those of all organizations.

    The leases are not renewed, so no process begins again before their time is over. Where two processes
    merge at once all the same, the second one finds blocks changed and leaves them for the next run.
    """
    if not await take_lease(database, LEASE, uuid.uuid4().hex, _LEASE_TIME):
        return
    of_all = await take_lease(database, LEASE_OF_ALL, uuid.uuid4().hex, _ALL_INTERVAL)

    async def merge(org_id: OrgId) -> AsyncGenerator[None, None]:
        while await merge_small_blocks(database, org_id) >= MANY_SMALL_BLOCKS:
            yield

    org_ids = await organizations_with_small_blocks(database, 1 if of_all else MANY_SMALL_BLOCKS)
    merging = [item_of_organization(org_id) for org_id in org_ids]
    await Items(database, Work.BLOCKS).in_turns(merging, merge, seconds=_MOST_SECONDS)


async def organizations_with_small_blocks(database: Database, at_least: int) -> list[OrgId]:
    """The organizations that have at least so many blocks to merge.

    Organizations that are being restored are left out: a restore may still need the blocks that it stored.
    """
    counts = database[NAME].aggregate(_counting(at_least), hint=SMALL_BLOCKS)
    org_ids = {OrgId(count["_id"]) async for count in counts}
    return sorted(org_ids - await unfinished_restores(database))


def _counting(at_least: int) -> list[Document]:
    """The pipeline that counts small blocks, by the index alone: its query names the index's first field."""
    return [
        {"$match": {"is_small": True, "org_id": {"$gt": ""}}},
        {"$group": {"_id": "$org_id", "blocks": {"$sum": 1}}},
        {"$match": {"blocks": {"$gte": at_least}}},
    ]


async def merge_small_blocks(database: Database, org_id: OrgId) -> int:
    """Merge the organization's small blocks. Returns how many fewer there are. Raises StorageError."""
    last_open = (await server_time(database) - _OPEN_FOR).date()
    query = {"org_id": org_id, "is_small": True}
    cursor = database[NAME].find(query, sort=[("first_at", 1)], limit=_BLOCKS_PER_READ)
    merged_away = 0
    for day, blocks in groupby(await cursor.to_list(None), _day_of):
        for group in _groups(list(blocks)):
            if len(group) > 1 or day < last_open:
                merged_away += await _merge(database, org_id, group, is_closed=day < last_open)
    return merged_away


def _day_of(block: Document) -> date:
    first_at: datetime = block["first_at"]
    return first_at.astimezone(UTC).date()


def _groups(blocks: Sequence[Document]) -> list[list[Document]]:
    """The blocks in groups: each group but the last has just enough clicks not to be small."""
    groups: list[list[Document]] = []
    clicks = SMALL_BLOCK_CLICKS
    for block in blocks:
        if clicks >= SMALL_BLOCK_CLICKS:
            groups.append([])
            clicks = 0
        groups[-1].append(block)
        clicks += block["clicks"]
    return groups


async def _merge(database: Database, org_id: OrgId, blocks: Sequence[Document], *, is_closed: bool) -> int:
    """Replace these blocks by a merged one. Returns how many fewer there are.

    Changes nothing, and returns 0, if another process has changed some of them meanwhile.
    """
    try:
        merged_block = await LONG_WORK.run(
            org_id, lambda: merged(org_id, [unpack(block["packed"]) for block in blocks])
        )
    except UnreadableBlock:
        await _leave_out_unreadable(database, blocks)
        return 0
    parts = [part for block in blocks for part in parts_of(block)]
    document = {
        "_id": f"{org_id}/{uuid.uuid4().hex}",
        **fields_of(merged_block),
        "parts": merged_parts(parts),
    }
    if is_closed:  # no more blocks of the day are likely to arrive
        document.pop("is_small", None)

    async def work(session: ClientSession) -> None:
        await delete_unchanged(database, session, org_id, blocks)
        await database[NAME].insert_one(document, session=session)

    try:
        await in_transaction(database, work)
    except BlocksChanged:
        return 0
    return len(blocks) - 1


async def _leave_out_unreadable(database: Database, blocks: Sequence[Document]) -> None:
    """Mark those of these blocks that can't be read. The next merge takes the others."""
    for block in blocks:
        try:
            unpack(block["packed"])
        except UnreadableBlock as error:
            _logger.error("The block %s of clicks can't be read any more: %s", block["_id"], error)
            await mark_unreadable(database, [block["_id"]])
