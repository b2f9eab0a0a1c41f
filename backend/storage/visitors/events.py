"""The `events` collection: custom events."""

from __future__ import annotations

from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import BY_ID, Collection, Personal, Stage
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.visitors import records

NAME = "events"
COLLECTION = Collection(
    name=NAME,
    indexes=records.INDEXES,
    owned_by=ByIdPrefix(),
    personal=Personal(customer="customer_id", device="device_id"),
    retention=records.RETENTION,
    archived=Stage.HISTORY,
    shard_key=BY_ID,
    audited=NotAudited("it is no change by anybody, but what happened"),
)
