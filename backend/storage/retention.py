"""How long an organization keeps what its visitors did: a date on each document, and indexes that obey it."""

from __future__ import annotations

from backend.storage import organizations
from backend.storage.collections import aging_collections
from backend.storage.mongo import Database


async def set_retention(database: Database, org_id: str, days: int | None) -> dict[str, int]:
    """Keep an organization's visitor data for so many days, or without limit (None), old data included.

    Gives how many documents of each collection were dated anew. Raises UnknownOrganization.
    """
    await organizations.set_retention_days(database, org_id, days)
    return {
        each.name: (
            await database[each.name].update_many(each.scope(org_id), retention.update(days))
        ).matched_count
        for each, retention in aging_collections()
    }
