"""The `conversions` collection. Each transaction_id counts only once (storage/visitors/counted_once)."""

from __future__ import annotations

from pymongo import IndexModel

from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NotSharded, Personal, Stage
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.visitors import records

NAME = "conversions"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        *records.INDEXES,
        *records.TELLING_INDEXES,
        IndexModel(
            [("org_id", 1), ("transaction_id", 1)],
            unique=True,
            partialFilterExpression={"transaction_id": {"$type": "string"}},
        ),
        # For the sales of a link, and what of a period is a link's. Not by type: then no query would use it.
        IndexModel(
            [("org_id", 1), ("touch.link_id", 1), ("at", 1), ("_id", 1)],
            partialFilterExpression={"touch.link_id": {"$gt": ""}},
        ),
    ],
    owned_by=ByIdPrefix(),
    personal=Personal(customer="customer_id", device="device_id", tellings=records.TELLINGS),
    retention=records.RETENTION,
    archived=Stage.HISTORY,
    # The index may go first: counted_once carries the same rule.
    shard_key=NotSharded("its unique index on `transaction_id` does not begin with an id"),
    audited=NotAudited("it is no change by anybody, but what happened"),
)
