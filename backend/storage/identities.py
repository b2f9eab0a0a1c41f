"""The `identities` collection: which customers a device was identified as, and what is known of them."""

from __future__ import annotations

from pymongo import IndexModel, UpdateOne

from backend.domain.intake import Identity
from backend.storage.collection import AgesFrom, Collection, Personal
from backend.storage.ownership import ByIdPrefix

NAME = "identities"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("customer_id", 1)]),
        IndexModel([("org_id", 1), ("device_id", 1), ("first_at", 1)]),
        IndexModel([("org_id", 1), ("email_sha256", 1)]),
    ],
    owned_by=ByIdPrefix(),
    personal=Personal(
        customer="customer_id", device="device_id", email_sha256="email_sha256", tells_whose=True
    ),
    retention=AgesFrom("last_at"),
)


def update(identity: Identity) -> UpdateOne:
    """The write that links a device to a customer, with name and hashes where the call gave them."""
    org_id, device_id = identity.batch.org_id, identity.batch.device_id
    customer_id = identity.customer_id
    return UpdateOne(
        {"_id": f"{org_id}/{device_id}/{customer_id}"},
        {
            "$setOnInsert": {"org_id": org_id, "device_id": device_id, "customer_id": customer_id},
            "$min": {"first_at": identity.at},
            "$max": {"last_at": identity.at},
            "$set": {**identity.known, "expires_at": identity.batch.expires_at},
        },
        upsert=True,
    )
