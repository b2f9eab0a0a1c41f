"""Folds of many links that a former version left half done."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from backend.domain.click_block import blocks_of, unpack
from backend.domain.clicks import Click
from backend.domain.ids import OrgId
from backend.domain.rollup import Facts
from backend.storage import click_blocks, click_folds, organization_counts
from backend.storage.folding import Folds
from backend.storage.link_merges import add_links
from backend.storage.mongo import Database, in_transaction
from backend.storage.unfolded_clicks import has_uncounted_clicks, waiting_clicks
from tests.clicks import fold, ship
from tests.storage.test_click_folds import Killed, assert_counted_once, killed_after, new_org, some_clicks


async def leave_open(database: Database, org_id: OrgId, clicks: Iterable[Click], to_link: str) -> None:
    """Store clicks as a former version left them that was killed: counted for links up to this one."""
    clicks = list(clicks)
    await ship(database, clicks)
    facts = Facts()
    for block in blocks_of(clicks):
        facts.add(unpack(block.packed))
    of_links = next(facts.by_link(lambda: facts.links))
    blocks = await database[click_blocks.NAME].distinct("_id", {"org_id": org_id, "folded": False})

    async def work(session: Any) -> None:
        counted = {link_id: tally for link_id, tally in of_links.items() if link_id <= to_link}
        await add_links(database, session, org_id, counted, counted_before=False)
        owner = {org_id: {"org_id": org_id}}
        await organization_counts.ROLLUPS.add(database, session, {org_id: facts.of_organization()}, owner)

    await in_transaction(database, work)
    half_done = {"$set": {"folded": True, "in_fold": True}}
    await database[click_blocks.NAME].update_many({"_id": {"$in": blocks}}, half_done)
    opened = {"fold": "f", "blocks": blocks, "counted_before": False, "to_link": to_link, "folds": 1}
    await database[click_folds.NAME].insert_one({"_id": org_id, **opened})


async def test_a_fold_that_a_former_version_left_open(database: Database) -> None:
    """It is much to do, and closed by the next fold, whoever is killed at it: each click counts once."""
    org_id = new_org()
    clicks = some_clicks(org_id)
    links = sorted({each.link_id for each in clicks})
    await leave_open(database, org_id, clicks, links[7])
    assert (await waiting_clicks(database))[org_id] > 500
    assert await has_uncounted_clicks(database, org_id, links[8])
    with suppress(Killed), killed_after(1, is_done=False):
        await Folds(database).fold([org_id])
    await ship(database, more := some_clicks(org_id, links=2))
    await fold(database, [org_id])
    assert org_id not in await waiting_clicks(database)
    [closed] = await database[click_folds.NAME].find({"_id": org_id}).to_list(None)
    assert set(closed) == {"_id", "folds"}
    assert await database[click_blocks.NAME].count_documents({"org_id": org_id, "in_fold": True}) == 0
    await assert_counted_once(database, org_id, clicks + more)
