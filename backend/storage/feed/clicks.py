"""Clicks in a feed, which are in the ledger's blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.click_block import UnreadableBlock, unpack
from backend.domain.clicks import Click
from backend.domain.ids import OrgId
from backend.storage import click_blocks
from backend.storage.feed.runs import Run, Told
from backend.storage.mongo import ClientSession, Database


async def load_clicks(
    database: Database, session: ClientSession, org_id: OrgId, runs: Sequence[Run]
) -> list[list[Told | None]]:
    """The clicks of these runs; None for those whose block is gone or damaged."""
    ids = [f"{org_id}/{run.fact['block']}" for run in runs]
    found = database[click_blocks.NAME].find({"_id": {"$in": ids}}, {"packed": 1}, session=session)
    packed = {each["_id"]: each["packed"] async for each in found}
    return await beside_the_loop(lambda: [_told(org_id, run, packed) for run in runs])


def _told(org_id: OrgId, run: Run, packed: Mapping[str, bytes]) -> list[Told | None]:
    block = packed.get(f"{org_id}/{run.fact['block']}")
    try:
        clicks = unpack(block).clicks(org_id) if block else iter(())
    except UnreadableBlock:
        clicks = iter(())
    told: list[Told | None] = [
        Told(each.at, _data(each)) for each in islice(clicks, run.first, run.first + run.count)
    ]
    return told + [None] * (run.count - len(told))


def _data(click: Click) -> dict[str, Any]:
    return {
        "link_id": click.link_id,
        "counted": click.counted,
        "reason": click.reason,
        "outcome": click.outcome.value,
        "platform": click.platform,
        "system": click.system,
        "browser": click.browser,
        "client_kind": click.client_kind,
        "country": click.country,
        "referrer_host": click.referrer_host,
        "variant": click.variant,
    }
