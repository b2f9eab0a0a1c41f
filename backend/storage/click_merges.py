"""Merges small blocks of clicks into larger ones, so that a quiet service does not keep a document for each
click.

Blocks of one organization and day are merged once they are folded, in one transaction. Their clicks stay the
same, and in their order, so that each block can be found and proved in the larger one.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.click_block import UnreadableBlock, merged, unpack
from backend.domain.ids import OrgId
from backend.storage.click_blocks import NAME, SMALL, fields_of, merged_parts, parts_of
from backend.storage.click_folds import Busy, take
from backend.storage.mongo import ClientSession, Database, Document, in_transaction, server_time
from backend.storage.restores import being_restored

# Blocks that one transaction merges at most.
_MOST_BLOCKS = 1_000
# Until then, more clicks of a day are likely to come: from a log that was left behind, or from another host.
_OPEN_FOR = timedelta(days=2)
_logger = logging.getLogger(__name__)


async def organizations_with_small_blocks(database: Database) -> list[OrgId]:
    """The organizations that have blocks to merge.

    One that is being restored is left out: its restore may go on with blocks that it stored before.
    """
    found = {OrgId(each) for each in await database[NAME].distinct("org_id", {"is_small": True})}
    return sorted(found - await being_restored(database))


async def merge_small_blocks(database: Database, org_id: OrgId) -> int:
    """Merge the organization's small blocks.

    Returns how many fewer there are. Raises Busy and StorageError.
    """
    last_open = (await server_time(database) - _OPEN_FOR).date()
    wanted = {"org_id": org_id, "is_small": True, "folded": True}
    found = database[NAME].find(wanted, sort=[("first_at", 1)], limit=_MOST_BLOCKS)
    gone = 0
    for day, blocks in groupby(await found.to_list(None), _day_of):
        for group in _groups(list(blocks)):
            if len(group) > 1 or day < last_open:
                gone += await _merge(database, org_id, group, is_closed=day < last_open)
    return gone


def _day_of(block: Document) -> date:
    first_at: datetime = block["first_at"]
    return first_at.astimezone(UTC).date()


def _groups(blocks: Sequence[Document]) -> list[list[Document]]:
    """The blocks in groups that are each small, or only just not."""
    groups: list[list[Document]] = []
    clicks = SMALL
    for block in blocks:
        if clicks >= SMALL:
            groups.append([])
            clicks = 0
        groups[-1].append(block)
        clicks += block["clicks"]
    return groups


async def _merge(database: Database, org_id: OrgId, blocks: Sequence[Document], *, is_closed: bool) -> int:
    """Put one block in place of these. Returns how many fewer there are."""
    try:
        block = await beside_the_loop(lambda: merged(org_id, [unpack(each["packed"]) for each in blocks]))
    except UnreadableBlock:
        await _leave_out_unreadable(database, blocks)
        return 0
    block_id = f"{org_id}/{uuid.uuid4().hex}"
    ids = [each["_id"] for each in blocks]
    parts = [part for each in blocks for part in parts_of(each)]
    document = {"_id": block_id, **fields_of(block), "parts": merged_parts(parts)}
    if is_closed:  # no more are likely to come to be merged with it
        document.pop("is_small", None)

    async def work(session: ClientSession) -> None:
        await take(database, session, [org_id])
        theirs = {"org_id": org_id, "_id": {"$in": ids}, "folded": True}
        deleted = await database[NAME].delete_many(theirs, session=session)
        if deleted.deleted_count != len(ids):
            raise Busy
        await database[NAME].insert_one(document | {"folded": True}, session=session)

    await in_transaction(database, work)
    return len(ids) - 1


async def _leave_out_unreadable(database: Database, blocks: Sequence[Document]) -> None:
    """Never merge those of these blocks that can't be read any more; the next merge takes the others."""
    for each in blocks:
        try:
            unpack(each["packed"])
        except UnreadableBlock as error:
            _logger.error("The block %s of clicks can't be read any more: %s", each["_id"], error)
            await database[NAME].update_one({"_id": each["_id"]}, {"$unset": {"is_small": 1}})
