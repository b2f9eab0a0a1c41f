"""The `organization_counts` collection: clicks as in `click_counts`, of all links of an organization."""

from __future__ import annotations

from datetime import date

from backend.domain.ids import OrgId
from backend.storage.collection import BY_ID, Collection, NoRetention, NotPersonal, Stage
from backend.storage.mongo import ClientSession, Database, Document
from backend.storage.ownership import ByIdPrefix
from backend.storage.rollups import COMPRESSOR, INDEXES, Rollups

NAME = "organization_counts"
COLLECTION = Collection(
    name=NAME,
    indexes=INDEXES,
    owned_by=ByIdPrefix(),
    personal=NotPersonal("numbers"),
    retention=NoRetention("numbers stay true when what they counted is forgotten"),
    archived=Stage.HISTORY,
    shard_key=BY_ID,
    compressor=COMPRESSOR,
)
# Nobody asks for windows of an organization that are exact to the second, and documents of minutes would take
# more bytes than all of its other counts.
ROLLUPS = Rollups(NAME, counts_seconds=False)


async def clicks_by_day(database: Database, org_id: OrgId, session: ClientSession) -> dict[str, int]:
    """The organization's clicks on each day in UTC, such as 2026-01-31, on which anything was counted."""
    cursor = database[NAME].find(_days_of(org_id), {"day": 1, "parts": 1}, session=session)
    return {each["day"]: sum(each.get("parts", {}).values()) async for each in cursor}


async def first_day(database: Database, org_id: OrgId) -> date | None:
    """The first day in UTC on which something was counted for the organization; None if nothing was."""
    found = await database[NAME].find_one(_days_of(org_id), {"day": 1}, sort=[("_id", 1)])
    return date.fromisoformat(found["day"]) if found else None


def _days_of(org_id: OrgId) -> Document:
    return {"_id": {"$gte": f"{org_id}/day/", "$lt": f"{org_id}/day0"}}
