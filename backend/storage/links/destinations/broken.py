"""The `broken_destinations` collection: links whose destinations did not answer well at the last look.

One document a link, which is gone when all of it is well again, and a month after the last look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pymongo import IndexModel, ReplaceOne

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database, Document, known_fields
from backend.storage.links import links
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotPersonal,
    NotSharded,
    Stage,
)
from backend.storage.schema.ownership import ByLink

NAME = "broken_destinations"
KEPT = timedelta(days=30)
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("since", -1)]), EXPIRY_INDEX],
    owned_by=ByLink("_id"),
    personal=NotPersonal("what pages answer"),
    retention=NoRetention("gone a month after the last look"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("small, and gone a month after the last look"),
)


@dataclass(frozen=True, slots=True)
class BrokenDestination:
    """An address of a link's field that answers badly, as the problem says ("it ..."), since this look."""

    field: str
    url: str
    problem: str
    since: datetime


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link, what is broken of it, and when it was looked at last."""

    link: Link
    broken: tuple[BrokenDestination, ...]
    checked_at: datetime


async def keep_results(
    database: Database, found: Mapping[LinkId, tuple[OrgId, Sequence[BrokenDestination]]], now: datetime
) -> None:
    """Store what was found at links. What was broken before in the same way has been so since then."""
    before = {
        each["_id"]: {entry["url"]: entry["since"] for entry in each["broken"]}
        async for each in database[NAME].find({"_id": {"$in": list(found)}}, {"broken": 1})
    }
    writes = []
    for link_id, (org_id, broken) in found.items():
        known = before.get(link_id, {})
        if broken:
            dated = [replace(each, since=known.get(each.url, each.since)) for each in broken]
            writes.append(ReplaceOne({"_id": link_id}, _document(org_id, dated, now), upsert=True))
    if writes:
        await database[NAME].bulk_write(writes, ordered=False)
    well = [link_id for link_id in before if not found[link_id][1]]
    if well:
        await database[NAME].delete_many({"_id": {"$in": well}})


async def list_broken(database: Database, org_id: OrgId, limit: int) -> list[BrokenLink]:
    """The organization's links that are broken still, as far as is known, the latest first."""
    cursor = database[NAME].find({"org_id": org_id}).sort("since", -1).limit(limit)
    documents = await cursor.to_list(limit)
    known = await links.find_links(database, [LinkId(each["_id"]) for each in documents], org_id)
    found = (_read(each, known[each["_id"]]) for each in documents if each["_id"] in known)
    return [each for each in found if each.broken and each.link.is_enabled]


async def find_broken(database: Database, org_id: OrgId, link_ids: Sequence[LinkId]) -> set[LinkId]:
    """Those of these links of the organization that were broken when they were looked at last."""
    wanted: Document = {"_id": {"$in": list(link_ids)}, "org_id": org_id}
    return {LinkId(each["_id"]) async for each in database[NAME].find(wanted, {"_id": 1})}


def _document(org_id: OrgId, broken: Sequence[BrokenDestination], now: datetime) -> Document:
    return {
        "org_id": org_id,
        "broken": [asdict(each) for each in broken],
        "since": max(each.since for each in broken),
        "checked_at": now,
        "expires_at": now + KEPT,
    }


def _read(document: dict[str, Any], link: Link) -> BrokenLink:
    """What is broken of the link as it is now: an address that it does not have any more is left out."""
    broken = [BrokenDestination(**known_fields(each, BrokenDestination)) for each in document["broken"]]
    urls = set(link.destinations.values())
    return BrokenLink(link, tuple(each for each in broken if each.url in urls), document["checked_at"])
