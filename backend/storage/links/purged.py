"""The `purged_links` collection: ids of links that were deleted for good.

Their clicks stay in `click_blocks`, and an archive may hold clicks of its own links only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from pymongo import IndexModel

from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ByField

NAME = "purged_links"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("org_id"), IndexModel("at")],
    owned_by=ByField(),
    personal=NotPersonal("ids of links"),
    retention=NoRetention("clicks in archives may name the link as long as there are any"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("small, and only for links that were deleted for good"),
    audited=NotAudited("the service's own notes for its work"),
)


async def add_purged_link(database: Database, link_id: LinkId, org_id: OrgId, now: datetime) -> None:
    """Note that the organization's link is deleted for good. A second time changes nothing."""
    purged = {"at": now.replace(microsecond=0)}
    own = {"_id": link_id, "org_id": org_id}
    await database[NAME].update_one(own, {"$setOnInsert": purged}, upsert=True)


async def find_purged_since(database: Database, moment: datetime) -> Mapping[OrgId, Sequence[LinkId]]:
    """The links that were deleted for good since this moment, by organization."""
    purged: defaultdict[OrgId, list[LinkId]] = defaultdict(list)
    async for document in database[NAME].find({"at": {"$gte": moment}}, {"org_id": 1}):
        purged[OrgId(document["org_id"])].append(LinkId(document["_id"]))
    return purged
