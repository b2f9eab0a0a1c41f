"""How long an organization keeps what its visitors did: a date on each document, and indexes that obey it."""

from __future__ import annotations

from backend.storage import conversions, devices, events, identities, leads, organizations
from backend.storage.mongo import Database, Document

# What a document's time to live runs from.
_STARTS = {
    events.NAME: "received_at",
    leads.NAME: "received_at",
    conversions.NAME: "received_at",
    devices.NAME: "last_seen_at",
    identities.NAME: "last_at",
}
_DAY = 24 * 60 * 60 * 1000  # milliseconds


async def set_retention(database: Database, org_id: str, days: int | None) -> dict[str, int]:
    """Keep an organization's visitor data for so many days, or without limit (None), old data included.

    Gives how many documents of each collection were dated anew. Raises UnknownOrganization.
    """
    await organizations.set_retention_days(database, org_id, days)
    return {
        name: (await database[name].update_many({"org_id": org_id}, _dated(start, days))).matched_count
        for name, start in _STARTS.items()
    }


def _dated(start: str, days: int | None) -> list[Document]:
    return [{"$set": {"expires_at": None if days is None else {"$add": [f"${start}", days * _DAY]}}}]
