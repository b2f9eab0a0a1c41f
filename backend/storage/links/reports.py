"""The `link_reports` collection: what visitors reported of links, a document a link.

Of each link the number is kept and the latest reports; all of it goes half a year after the last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from pymongo import DESCENDING, IndexModel

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.links.reports import LinkReport, ReportReason
from backend.storage.driver.mongo import Database, Document
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

NAME = "link_reports"
KEPT = timedelta(days=180)
# Of a link: however many are sent, its document stays small.
MOST_KEPT = 20
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("last_at", DESCENDING)]), IndexModel("last_at"), EXPIRY_INDEX],
    owned_by=ByLink("_id"),
    personal=NotPersonal("who reports is not asked, and no field names anyone"),
    retention=NoRetention("gone half a year after the last report"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("small, and gone half a year after the last report"),
)


@dataclass(frozen=True, slots=True)
class ReportedLink:
    """A link, how often it was reported, and the latest reports, newest first."""

    link: Link
    count: int
    latest: tuple[LinkReport, ...]


async def add_report(database: Database, link: Link, report: LinkReport) -> None:
    """Store a report."""
    change: Document = {
        "$inc": {"count": 1},
        "$push": {"latest": {"$each": [asdict(report)], "$slice": -MOST_KEPT}},
        "$set": {"org_id": link.org_id, "last_at": report.at, "expires_at": report.at + KEPT},
    }
    await database[NAME].update_one({"_id": link.id}, change, upsert=True)


async def list_reported(database: Database, org_id: OrgId | None, limit: int) -> list[ReportedLink]:
    """The links that were reported, the latest first: of an organization; None: of all."""
    wanted: Document = {} if org_id is None else {"org_id": org_id}
    documents = await database[NAME].find(wanted).sort("last_at", DESCENDING).limit(limit).to_list(limit)
    ids = [LinkId(each["_id"]) for each in documents]
    known = {each.id: each for each in await links.find_all(database, None, {"_id": {"$in": ids}} | wanted)}
    return [_read(each, known) for each in documents if each["_id"] in known]


async def dismiss_reports(database: Database, link_id: LinkId) -> bool:
    """Forget the reports of a link. Returns whether there were any."""
    return bool((await database[NAME].delete_one({"_id": link_id})).deleted_count)


def _read(document: dict[str, Any], known: Mapping[LinkId, Link]) -> ReportedLink:
    latest = [
        LinkReport(ReportReason(each["reason"]), each["text"], each["at"])
        for each in reversed(document["latest"])
    ]
    return ReportedLink(known[document["_id"]], document["count"], tuple(latest))
