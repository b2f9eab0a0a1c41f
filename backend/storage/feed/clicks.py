"""Clicks in a feed, which are in the ledger's blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.click_block import UnreadableBlock, unpack
from backend.domain.clicks import Click
from backend.domain.ids import LinkId, OrgId
from backend.domain.short_urls import ShortUrlForm
from backend.storage import click_blocks
from backend.storage.feed.runs import Run, Told
from backend.storage.links import find_short_urls
from backend.storage.mongo import ClientSession, Database


async def load_clicks(
    form: ShortUrlForm, database: Database, session: ClientSession, org_id: OrgId, runs: Sequence[Run]
) -> list[list[Told | None]]:
    """The clicks of these runs; None for those whose block is gone or damaged."""
    ids = [f"{org_id}/{run.fact['block']}" for run in runs]
    found = database[click_blocks.NAME].find({"_id": {"$in": ids}}, {"packed": 1}, session=session)
    packed = {each["_id"]: each["packed"] async for each in found}
    read = await beside_the_loop(lambda: [_clicks(org_id, run, packed) for run in runs])
    link_ids = {click.link_id for clicks in read for click in clicks}
    short_urls = await find_short_urls(database, org_id, link_ids, form, session)
    return await beside_the_loop(
        lambda: [_told(clicks, short_urls, run.count) for run, clicks in zip(runs, read, strict=True)]
    )


def _clicks(org_id: OrgId, run: Run, packed: Mapping[str, bytes]) -> list[Click]:
    block = packed.get(f"{org_id}/{run.fact['block']}")
    try:
        clicks = unpack(block).clicks(org_id) if block else iter(())
    except UnreadableBlock:
        return []
    return list(islice(clicks, run.first, run.first + run.count))


def _told(clicks: Sequence[Click], short_urls: Mapping[LinkId, str], count: int) -> list[Told | None]:
    told: list[Told | None] = [_of(each, short_urls.get(each.link_id)) for each in clicks]
    return told + [None] * (count - len(told))


def _of(click: Click, short_url: str | None) -> Told:
    data = {
        "link_id": click.link_id,
        "short_url": short_url,
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
    return Told(click.at, data)
