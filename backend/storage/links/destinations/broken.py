"""The `broken_destinations` collection: links with destinations that failed at the last check.

A link has one document. It is deleted when all destinations work again, and a month after the last check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from pymongo import IndexModel, ReplaceOne

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database, Document, known_fields
from backend.storage.links import links
from backend.storage.schema.audited import NotAudited
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
    audited=NotAudited("the service's own notes for its work"),
)


@dataclass(frozen=True, slots=True)
class BrokenDestination:
    """A destination that fails: the link's field, its address, the problem ("it ...") and since when."""

    field: str
    url: str
    problem: str
    since: datetime


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link, its broken destinations, and when it was checked last."""

    link: Link
    broken: tuple[BrokenDestination, ...]
    checked_at: datetime


async def keep_results(
    database: Database, results: Mapping[LinkId, tuple[OrgId, Sequence[BrokenDestination]]], now: datetime
) -> None:
    """Store the results of a check: for each link its organization, and its broken destinations, if any.

    A destination that was broken already keeps the time since when it is.
    """
    theirs = {"org_id": {"$in": list({org_id for org_id, _ in results.values()})}}
    since_by_url = {
        document["_id"]: {entry["url"]: entry["since"] for entry in document["broken"]}
        async for document in database[NAME].find({"_id": {"$in": list(results)}, **theirs}, {"broken": 1})
    }
    writes = []
    for link_id, (org_id, broken) in results.items():
        known_since = since_by_url.get(link_id, {})
        if broken:
            dated = [
                replace(destination, since=known_since.get(destination.url, destination.since))
                for destination in broken
            ]
            own = {"_id": link_id, "org_id": org_id}
            writes.append(ReplaceOne(own, _document(org_id, dated, now), upsert=True))
    if writes:
        await database[NAME].bulk_write(writes, ordered=False)
    working = [link_id for link_id in since_by_url if not results[link_id][1]]
    if working:
        await database[NAME].delete_many({"_id": {"$in": working}, **theirs})


async def list_broken(
    database: Database, org_id: OrgId, limit: int, covers: Callable[[Link], bool] = lambda _: True
) -> list[BrokenLink]:
    """At most `limit` of the organization's enabled links that are broken and covered, the latest first.

    Leaves out destinations that a link does not have any more.
    """
    found: list[BrokenLink] = []
    cursor = database[NAME].find({"org_id": org_id}).sort([("since", -1), ("_id", 1)])
    while len(found) < limit and (documents := await cursor.to_list(limit)):
        found += await _enabled(database, org_id, documents, covers)
    return found[:limit]


async def _enabled(
    database: Database, org_id: OrgId, documents: Sequence[Document], covers: Callable[[Link], bool]
) -> list[BrokenLink]:
    """The broken links of these documents that are enabled and covered, in their order."""
    by_id = {LinkId(document["_id"]): document for document in documents}
    links_by_id = await links.find_links(database, by_id, org_id)
    broken_links = (_read(by_id[own_id], links_by_id[own_id]) for own_id in by_id if own_id in links_by_id)
    return [
        broken for broken in broken_links if broken.broken and broken.link.is_enabled and covers(broken.link)
    ]


async def find_broken(database: Database, org_id: OrgId, link_ids: Sequence[LinkId]) -> set[LinkId]:
    """Those of these links of the organization that were broken at the last check."""
    query: Document = {"_id": {"$in": list(link_ids)}, "org_id": org_id}
    return {LinkId(document["_id"]) async for document in database[NAME].find(query, {"_id": 1})}


def _document(org_id: OrgId, broken: Sequence[BrokenDestination], now: datetime) -> Document:
    return {
        "org_id": org_id,
        "broken": [asdict(destination) for destination in broken],
        "since": max(destination.since for destination in broken),
        "checked_at": now,
        "expires_at": now + KEPT,
    }


def _read(document: dict[str, Any], link: Link) -> BrokenLink:
    """The broken link, without addresses that the link does not have any more."""
    broken = [
        BrokenDestination(**known_fields(destination, BrokenDestination))
        for destination in document["broken"]
    ]
    urls = set(link.destinations.values())
    return BrokenLink(
        link, tuple(destination for destination in broken if destination.url in urls), document["checked_at"]
    )
