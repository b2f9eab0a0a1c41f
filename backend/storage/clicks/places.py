"""Finds the click at a place that a click id names."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.clicks.block import UnreadableBlock, unpack
from backend.domain.clicks.clicks import Click
from backend.domain.clicks.ids import ClickPlace, is_at
from backend.domain.ids import LinkId, OrgId
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.signing import PURPOSE
from backend.storage.clicks.signing_keys import signing_key
from backend.storage.driver.mongo import Database

_DAY = timedelta(days=1)


async def find_click(database: Database, org_id: OrgId, link_id: LinkId, place: ClickPlace) -> Click | None:
    """The click of the link at this place; None if it has expired, or is not in the database yet."""
    key = await signing_key(database, PURPOSE)
    bounds = {"last_at": {"$gte": place.at, "$lt": place.at + _DAY}, "first_at": {"$lte": place.at}}
    async for block in database[click_blocks.NAME].find({"org_id": org_id} | bounds, {"packed": 1}):
        packed = bytes(block["packed"])
        if click := await LONG_WORK.run(org_id, partial(_find, key, packed, org_id, link_id, place)):
            return click
    return None


def _find(key: bytes, packed: bytes, org_id: OrgId, link_id: LinkId, place: ClickPlace) -> Click | None:
    try:
        columns = unpack(packed)
    except UnreadableBlock:
        return None
    if link_id not in columns.links:
        return None
    clicks = columns.clicks(org_id)
    return next((click for click in clicks if click.link_id == link_id and is_at(key, click, place)), None)
