"""The `link_reports` collection: visitors' reports of links, one document for each link.

A document has the number of reports and the latest ones. It is deleted half a year after the last report.
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

NAME = "link_reports"
KEPT = timedelta(days=180)
# The most reports of a link that are kept, so that its document stays small.
MOST_KEPT = 20
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("last_at", DESCENDING)]), IndexModel("last_at"), EXPIRY_INDEX],
    owned_by=ByLink("_id"),
    personal=NotPersonal("who reports is not asked, and no field names anyone"),
    retention=NoRetention("gone half a year after the last report"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("small, and gone half a year after the last report"),
    audited=NotAudited("visitors make reports; whoever dismisses them changes nothing of a link"),
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
        "$set": {"last_at": report.at, "expires_at": report.at + KEPT},
    }
    await database[NAME].update_one({"_id": link.id, "org_id": link.org_id}, change, upsert=True)


async def list_reported(database: Database, org_id: OrgId | None, limit: int) -> list[ReportedLink]:
    """The reported links of an organization (None: of all organizations), the latest report first."""
    query: Document = {} if org_id is None else {"org_id": org_id}
    documents = await database[NAME].find(query).sort("last_at", DESCENDING).limit(limit).to_list(limit)
    ids = [LinkId(document["_id"]) for document in documents]
    links_by_id = {
        link.id: link for link in await links.find_all(database, None, {"_id": {"$in": ids}} | query)
    }
    return [_read(document, links_by_id) for document in documents if document["_id"] in links_by_id]


async def dismiss_reports(database: Database, link_id: LinkId) -> bool:
    """Forget the reports of a link. Returns whether there were any."""
    return bool((await database[NAME].delete_one({"_id": link_id})).deleted_count)


def _read(document: dict[str, Any], links_by_id: Mapping[LinkId, Link]) -> ReportedLink:
    latest = [
        LinkReport(ReportReason(report["reason"]), report["text"], report["at"])
        for report in reversed(document["latest"])
    ]
    return ReportedLink(links_by_id[document["_id"]], document["count"], tuple(latest))
