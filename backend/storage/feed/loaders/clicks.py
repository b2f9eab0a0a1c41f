"""Loads the clicks of a feed's events from their blocks.

A block may have been merged with others since. It is then a part of the merged block, which has its clicks
together and in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.clicks.block import Columns, UnreadableBlock, unpack
from backend.domain.clicks.clicks import Click
from backend.domain.feed.event_shapes import ClickJson
from backend.domain.fields.shapes import json_of
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.clicks import blocks as click_blocks
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.feed.loaders.runs import EventContent, Run
from backend.storage.links.links import find_short_urls


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a block's clicks in columns: `clicks` of them, behind `first` others."""

    columns: Columns
    first: int
    clicks: int


async def load_clicks(
    form: ShortUrlForm, database: Database, session: ClientSession, org_id: OrgId, runs: Sequence[Run]
) -> list[list[EventContent | None]]:
    """The contents of these runs' clicks; None for clicks whose block is deleted or unreadable."""
    own_ids = [run.fact["block"] for run in runs]
    fields = {"packed": 1, "clicks": 1, "parts": 1}
    cursor = database[click_blocks.NAME].find(
        click_blocks.blocks_with(org_id, own_ids), fields, session=session
    )
    documents = await cursor.to_list(None)
    places: dict[str, _Place] = {}
    for document in documents:  # a block may have thousands of clicks
        places |= await LONG_WORK.run(org_id, partial(_places, document))
    clicks_of_runs = await LONG_WORK.run(
        org_id, lambda: [_clicks(org_id, run, places.get(run.fact["block"])) for run in runs]
    )
    link_ids = {click.link_id for clicks in clicks_of_runs for click in clicks}
    short_urls = await find_short_urls(database, org_id, link_ids, form, session)
    return await LONG_WORK.run(
        org_id,
        lambda: [
            _contents(clicks, short_urls, run.count) for run, clicks in zip(runs, clicks_of_runs, strict=True)
        ],
    )


def _places(document: Document) -> Mapping[str, _Place]:
    """The places of the blocks that a stored block has, by their ids; empty if it can't be read."""
    try:
        columns = unpack(document["packed"])
    except UnreadableBlock:
        return {}
    places, first = {}, 0
    for part in click_blocks.parts_of(document):
        places[part.id] = _Place(columns, first, part.clicks)
        first += part.clicks
    return places


def _clicks(org_id: OrgId, run: Run, place: _Place | None) -> list[Click]:
    if place is None:
        return []
    count = min(run.count, max(0, place.clicks - run.first))
    return list(place.columns.clicks(org_id, place.first + run.first, count))


def _contents(
    clicks: Sequence[Click], short_urls: Mapping[LinkId, str], count: int
) -> list[EventContent | None]:
    contents: list[EventContent | None] = [_content(click, short_urls.get(click.link_id)) for click in clicks]
    return contents + [None] * (count - len(contents))


def _content(click: Click, short_url: str | None) -> EventContent:
    return EventContent(click.at, json_of(ClickJson, click, short_url=short_url))
