"""How long an organization keeps data about its visitors: documents have a date on which they expire."""

from __future__ import annotations

from backend.domain.ids import OrgId
from backend.storage.accounts import organizations
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import aging_collections


async def set_retention(database: Database, org_id: OrgId, days: int | None) -> dict[str, int]:
    """Set for how many days (None: without limit) data about visitors is kept, old data included.

    Returns how many documents of each collection got a new date. Raises UnknownOrganization.
    """
    await organizations.set_retention_days(database, org_id, days)
    return {
        collection.name: (
            await database[collection.name].update_many(collection.scope(org_id), retention.update(days))
        ).matched_count
        for collection, retention in aging_collections()
    }
