"""The `leads` collection. Each event_id counts only once (storage/visitors/counted_once)."""

from __future__ import annotations

from pymongo import IndexModel

from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import BY_ID, Collection, Personal, Stage
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.visitors import records

NAME = "leads"
# The fields with hashed addresses: of the lead, and of tellings of it.
EMAILS = ("email_sha256", f"{records.TELLINGS}.{records.FIELDS}.email_sha256")
COLLECTION = Collection(
    name=NAME,
    indexes=[
        *records.INDEXES,
        *records.TELLING_INDEXES,
        IndexModel([("org_id", 1), (EMAILS[0], 1)]),
        IndexModel([("org_id", 1), (EMAILS[1], 1)], partialFilterExpression={EMAILS[1]: {"$gt": ""}}),
        IndexModel(
            [("org_id", 1), ("event_id", 1)], partialFilterExpression={"event_id": {"$type": "string"}}
        ),
    ],
    owned_by=ByIdPrefix(),
    personal=Personal(
        customer="customer_id",
        device="device_id",
        email_sha256="email_sha256",
        tellings=records.TELLINGS,
    ),
    retention=records.RETENTION,
    archived=Stage.HISTORY,
    shard_key=BY_ID,
    audited=NotAudited("it is no change by anybody, but what happened"),
)
