"""The `organization_counts` collection: clicks as in `click_counts`, of all links of an organization."""

from __future__ import annotations

from datetime import date

from backend.domain.ids import OrgId
from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.mongo import Database
from backend.storage.ownership import ByIdPrefix
from backend.storage.rollups import COMPRESSOR, INDEXES, Rollups

NAME = "organization_counts"
COLLECTION = Collection(
    name=NAME,
    indexes=INDEXES,
    owned_by=ByIdPrefix(),
    personal=NotPersonal("numbers"),
    retention=NoRetention("numbers stay true when what they counted is forgotten"),
    compressor=COMPRESSOR,
)
# Nobody asks for windows of an organization that are exact to the second, and documents of minutes would take
# more bytes than all of its other counts.
ROLLUPS = Rollups(NAME, counts_seconds=False)


async def first_day(database: Database, org_id: OrgId) -> date | None:
    """The first day in UTC on which something was counted for the organization; None if nothing was."""
    days = {"_id": {"$gte": f"{org_id}/day/", "$lt": f"{org_id}/day0"}}
    found = await database[NAME].find_one(days, {"day": 1}, sort=[("_id", 1)])
    return date.fromisoformat(found["day"]) if found else None
