"""Documents that facts name, by the ids that facts have."""

from __future__ import annotations

from collections.abc import Iterable

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document


async def find_named(
    database: Database, session: ClientSession, collection: str, org_id: OrgId, own_ids: Iterable[str]
) -> dict[str, Document]:
    """The organization's documents in a collection whose ids begin with its own, by the rest of their ids."""
    wanted = [f"{org_id}/{each}" for each in dict.fromkeys(own_ids)]
    found = database[collection].find({"_id": {"$in": wanted}}, session=session)
    return {each["_id"].partition("/")[2]: each async for each in found}
