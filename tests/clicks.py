"""Clicks that are stored and counted as the service does it, without a visitor."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from backend.domain.click_block import blocks_of, unpack
from backend.domain.clicks import Click
from backend.domain.destination import Outcome
from backend.domain.ids import LinkId, OrgId
from backend.storage.click_blocks import NAME, ship_blocks
from backend.storage.click_folds import Busy
from backend.storage.click_logs import LogHead, find_head
from backend.storage.folding import Folds
from backend.storage.mongo import Database
from backend.storage.unfolded_clicks import waiting_clicks


def click(org_id: OrgId, link_id: LinkId, at: datetime, **fields: Any) -> Click:
    """A click that counts, unless a reason is given."""
    usual: dict[str, Any] = {
        "counted": fields.get("reason") is None,
        "reason": None,
        "outcome": Outcome.WEB,
        "platform": "desktop",
        "system": "Linux",
        "browser": "Firefox",
        "client_kind": "browser",
        "country": None,
        "referrer_host": None,
    }
    return Click(org_id=org_id, link_id=link_id, at=at, **usual | fields)


async def ship(
    database: Database, clicks: Iterable[Click], log_id: str | None = None, start: int = 0, end: int = 1
) -> None:
    """Store clicks as a stretch of a click log, by default of one of their own."""
    log_id = log_id or uuid.uuid4().hex
    head = await find_head(database, log_id)
    if head.position != start:
        head = LogHead(start)
    await ship_blocks(database, log_id, head, end, blocks_of(clicks))


async def fold(database: Database, org_ids: Iterable[OrgId] | None = None) -> None:
    """Count everything that is stored, of these organizations or of all."""
    waiting = list(await waiting_clicks(database) if org_ids is None else org_ids)
    folds = Folds(database)
    while True:
        try:
            folded = await folds.fold(waiting)
        except Busy:  # the service folds the same
            continue
        if folded.is_done:
            return


async def defer(database: Database, org_id: OrgId) -> None:
    """Count what is stored of the organization, and leave the documents of links to a merge."""
    assert (await Folds(database, links_at_once=0).fold([org_id], merges=False)).is_all


async def count_clicks(database: Database, clicks: Iterable[Click]) -> None:
    """Store clicks and count them."""
    clicks = list(clicks)
    await ship(database, clicks)
    await fold(database, {each.org_id for each in clicks})


async def recorded_clicks(database: Database, org_id: OrgId, link_id: LinkId | None = None) -> list[Click]:
    """The clicks in the organization's blocks, oldest first, of one link or of all."""
    clicks: list[Click] = []
    async for block in database[NAME].find({"org_id": org_id}):
        clicks += unpack(block["packed"]).clicks(org_id)
    return sorted((each for each in clicks if link_id in {None, each.link_id}), key=lambda each: each.at)
