"""The `webhook_deliveries` collection: the last attempts to send something to each endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from backend.domain.ids import EndpointId, OrgId
from backend.domain.webhooks.deliveries import Delivery
from backend.storage.driver.mongo import Database, known_fields
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
)
from backend.storage.schema.ownership import ByField

NAME = "webhook_deliveries"
MOST_KEPT = 100
KEPT = timedelta(days=7)
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ByField(),
    personal=NotPersonal("ids of events, and how an organization's own server answered"),
    retention=NoRetention("the last attempts, and gone a week after the last"),
    archived=NotArchived("gone within a week"),
    shard_key=NotSharded("an organization has few"),
    audited=NotAudited("the service's own notes for its work"),
)


async def note_deliveries(
    database: Database,
    org_id: OrgId,
    endpoint_id: EndpointId,
    attempts: Sequence[Delivery],
    now: datetime,
) -> None:
    """Add these attempts; only the last MOST_KEPT stay."""
    documents = [
        asdict(attempt) | {"event_ids": list(attempt.event_ids)} for attempt in attempts[-MOST_KEPT:]
    ]
    update = {
        "$push": {"recent": {"$each": documents, "$slice": -MOST_KEPT}},
        "$set": {"expires_at": now + KEPT},
    }
    await database[NAME].update_one({"_id": endpoint_id, "org_id": org_id}, update, upsert=True)


async def list_deliveries(database: Database, org_id: OrgId, given_id: str) -> list[Delivery]:
    """The last attempts to send something to the organization's endpoint, the newest first.

    Attempts of the last seconds may be missing. None for an endpoint that the organization does not have.
    """
    document = await database[NAME].find_one({"_id": given_id, "org_id": org_id}) or {"recent": []}
    recent = [
        Delivery(**known_fields(delivery, Delivery) | {"event_ids": tuple(delivery["event_ids"])})
        for delivery in document["recent"]
    ]
    return recent[::-1]


async def forget(database: Database, org_id: OrgId, given_id: str) -> None:
    """Delete the attempts of this endpoint."""
    await database[NAME].delete_one({"_id": given_id, "org_id": org_id})
