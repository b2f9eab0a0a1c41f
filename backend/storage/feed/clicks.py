"""Clicks in a feed, which are in the ledger's blocks.

A block may have been merged with others since its clicks were noted. It is then found as a part of the larger
one, in which its clicks stand together and in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.clicks.block import Columns, UnreadableBlock, unpack
from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.clicks import blocks as click_blocks
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.feed.runs import Run, Told
from backend.storage.links.links import find_short_urls


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the clicks of a block are: so many, behind so many others in these columns."""

    columns: Columns
    first: int
    clicks: int


async def load_clicks(
    form: ShortUrlForm, database: Database, session: ClientSession, org_id: OrgId, runs: Sequence[Run]
) -> list[list[Told | None]]:
    """The clicks of these runs; None for those whose block is gone or damaged."""
    own_ids = [run.fact["block"] for run in runs]
    fields = {"packed": 1, "clicks": 1, "parts": 1}
    found = database[click_blocks.NAME].find(click_blocks.that_have(org_id, own_ids), fields, session=session)
    documents = await found.to_list(None)
    read = await beside_the_loop(lambda: _read(org_id, runs, documents))
    link_ids = {click.link_id for clicks in read for click in clicks}
    short_urls = await find_short_urls(database, org_id, link_ids, form, session)
    return await beside_the_loop(
        lambda: [_told(clicks, short_urls, run.count) for run, clicks in zip(runs, read, strict=True)]
    )


def _read(org_id: OrgId, runs: Sequence[Run], documents: Sequence[Document]) -> list[list[Click]]:
    """The clicks of each run that are there."""
    places = {name: place for each in documents for name, place in _places(each).items()}
    return [_clicks(org_id, run, places.get(run.fact["block"])) for run in runs]


def _places(document: Document) -> Mapping[str, _Place]:
    """The places of the blocks that stand in this one, by their ids; none if it can't be read."""
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
