"""Clicks that are stored as the service does it, without a visitor."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from backend.domain.clicks.block import blocks_of, unpack
from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.storage.clicks.blocks import NAME, ship_blocks
from backend.storage.clicks.logs import LogHead, find_head
from backend.storage.driver.mongo import Database


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


async def recorded_clicks(database: Database, org_id: OrgId, link_id: LinkId | None = None) -> list[Click]:
    """The clicks in the organization's blocks, oldest first, of one link or of all."""
    clicks: list[Click] = []
    async for block in database[NAME].find({"org_id": org_id}):
        clicks += unpack(block["packed"]).clicks(org_id)
    return sorted(
        (recorded for recorded in clicks if link_id in {None, recorded.link_id}),
        key=lambda recorded: recorded.at,
    )
