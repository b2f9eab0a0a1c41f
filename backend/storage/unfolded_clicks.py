"""Clicks that are stored and not counted yet: their blocks wait to be folded, or are in an open fold."""

from __future__ import annotations

from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.click_block import UnreadableBlock, unpack
from backend.domain.ids import LinkId, OrgId
from backend.storage import click_blocks
from backend.storage.click_folds import NAME, OPEN
from backend.storage.folding import LINKS_AT_ONCE
from backend.storage.mongo import Database, Document
from backend.storage.restores import being_restored


async def waiting_clicks(database: Database) -> dict[OrgId, int]:
    """How many clicks of each organization wait to be folded. An open fold counts as thousands.

    Those of an organization that is being restored are left out: its restore may go on with blocks that it
    stored before, so they must stay until it is whole.
    """
    waiting: dict[OrgId, int] = {}
    pipeline: list[Document] = [
        {"$match": {"folded": False}},
        {"$group": {"_id": "$org_id", "clicks": {"$sum": "$clicks"}}},
    ]
    async for found in database[click_blocks.NAME].aggregate(pipeline, hint="unfolded"):
        waiting[OrgId(found["_id"])] = found["clicks"]
    async for found in database[NAME].find(OPEN, {"_id": 1}):
        org_id = OrgId(found["_id"])
        waiting[org_id] = waiting.get(org_id, 0) + LINKS_AT_ONCE
    restored = await being_restored(database)
    return {org_id: clicks for org_id, clicks in waiting.items() if org_id not in restored}


async def has_uncounted_clicks(database: Database, org_id: OrgId, link_id: LinkId) -> bool:
    """Whether clicks on the organization's link are stored that may not be in its counts yet.

    Reads every block that waits to be folded, or is in an open fold. What waits on disks is not known.
    """
    opened = await database[NAME].find_one({"_id": org_id} | OPEN, {"blocks": 1})
    waiting: list[Document] = [{"org_id": org_id, "folded": False}]
    if opened:
        waiting.append({"org_id": org_id, "_id": {"$in": opened["blocks"]}})
    for wanted in waiting:
        async for block in database[click_blocks.NAME].find(wanted, {"packed": 1}):
            if await beside_the_loop(partial(_has_clicks_on, block["packed"], link_id)):
                return True
    return False


def _has_clicks_on(packed: bytes, link_id: LinkId) -> bool:
    try:
        columns = unpack(packed)
    except UnreadableBlock:
        return False
    return link_id in columns.links and any(
        columns.links[link] == link_id and columns.whats[what][1] is None
        for link, what in zip(columns.link, columns.what, strict=True)
    )
