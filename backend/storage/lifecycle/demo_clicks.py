"""Takes the clicks of a demo's history out of blocks.

Blocks keep their receipts: who checks the ledger finds that clicks were taken out
(docs/decisions/provable-counts.md).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import partial
from itertools import islice

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.clicks.block import Block, UnreadableBlock, block_of, unpack
from backend.domain.ids import LinkId, OrgId
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.blocks import Part
from backend.storage.clicks.summaries import load_summaries
from backend.storage.driver.mongo import Database, Document


async def are_added_up(database: Database, org_id: OrgId, link_ids: Collection[LinkId]) -> bool:
    """Whether days are added up on which these links were clicked: then clicks can't be taken out."""
    async for each in load_summaries(database, org_id):
        if not {*json.loads(each.columns)["link_table"]}.isdisjoint(link_ids):
            return True
    return False


async def remove_clicks(database: Database, org_id: OrgId, link_ids: Collection[LinkId]) -> int:
    """Remove all clicks on these links of the organization from its blocks. Returns how many requests.

    Can be done again after an interruption. It looks until no such clicks are left: somebody else may merge
    the same blocks.
    """
    removed, has_found = 0, True
    while has_found:
        has_found = False
        wanted = {"packed": 1, "clicks": 1, "parts": 1}
        async for found in database[click_blocks.NAME].find({"org_id": org_id}, wanted):
            if await beside_the_loop(partial(_has_clicks_on, found, link_ids)):
                has_found = True
                removed += await _remove_from(database, org_id, found, link_ids)
    return removed


async def _remove_from(
    database: Database, org_id: OrgId, found: Document, link_ids: Collection[LinkId]
) -> int:
    """Leave in a block what is not of these links, if it is as found. Returns how many requests went."""
    block, parts = await beside_the_loop(partial(_without, found, org_id, link_ids))
    this, blocks = {name: found[name] for name in ("_id", "packed")}, database[click_blocks.NAME]
    if block is None:
        gone = (await blocks.delete_one(this)).deleted_count
        return int(gone * found["clicks"])
    fields = click_blocks.fields_of(block)
    if "parts" in found:
        fields["parts"] = click_blocks.merged_parts(parts)
    changed = (await blocks.update_one(this, {"$set": fields})).matched_count
    return int(changed * (found["clicks"] - block.clicks))


def _has_clicks_on(found: Document, link_ids: Collection[LinkId]) -> bool:
    try:
        return not set(unpack(found["packed"]).links).isdisjoint(link_ids)
    except UnreadableBlock:
        return False


def _without(
    found: Document, org_id: OrgId, link_ids: Collection[LinkId]
) -> tuple[Block | None, Sequence[Part]]:
    """The block without requests for these links, None if nothing is left, and what is left of its parts."""
    kept, parts, rest = [], [], unpack(found["packed"]).clicks(org_id)
    for part in click_blocks.parts_of(found):
        own = [each for each in islice(rest, part.clicks) if each.link_id not in link_ids]
        kept += own
        if own:
            parts.append(part._replace(clicks=len(own)))
    return block_of(org_id, kept) if kept else None, parts
