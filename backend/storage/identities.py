"""The `identities` collection: which customers a device was identified as, and what is known of them."""

from __future__ import annotations

from datetime import datetime

from pymongo import IndexModel, UpdateOne

NAME = "identities"
INDEXES = [
    IndexModel([("org_id", 1), ("customer_id", 1)]),
    IndexModel([("org_id", 1), ("device_id", 1), ("first_at", 1)]),
    IndexModel([("org_id", 1), ("email_sha256", 1)]),
    IndexModel("expires_at", expireAfterSeconds=0),
]


def update(
    org_id: str,
    device_id: str,
    customer_id: str,
    *,
    at: datetime,
    known: dict[str, str],
    expires_at: datetime | None,
) -> UpdateOne:
    """The write that links a device to a customer; `known` holds name and hashes, where a call gave them."""
    return UpdateOne(
        {"_id": f"{org_id}/{device_id}/{customer_id}"},
        {
            "$setOnInsert": {"org_id": org_id, "device_id": device_id, "customer_id": customer_id},
            "$min": {"first_at": at},
            "$max": {"last_at": at},
            "$set": {**known, "expires_at": expires_at},
        },
        upsert=True,
    )
