"""What leads, conversions and events have in common: the person, the time and the source."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from bson import Decimal128
from pymongo import IndexModel, UpdateOne

from backend.domain.attribution import Credit, Touch
from backend.domain.intake import CallKey, DeviceKey, Record, call_key
from backend.storage.blocking import BlockingDatabase, BlockingSession
from backend.storage.calls import call_id, key_of
from backend.storage.collection import AgesFrom
from backend.storage.mongo import Document, known_fields

# A late touch changes the credit of later records. The limit keeps one device from delaying all calls.
MOST_CREDITED = 500
INDEXES = [
    IndexModel([("org_id", 1), ("at", 1)]),
    IndexModel([("org_id", 1), ("device_id", 1), ("at", 1)]),
    IndexModel([("org_id", 1), ("customer_id", 1)]),
]
TOUCHES = ("first_touch", "touch")
RETENTION = AgesFrom("at")


def document(record: Record, days: int | None) -> Document:
    """The stored form of a record. `days` is the organization's retention; None means without limit.

    `at` is the time that counts; `occurred_at` is the time by the browser's clock.
    """
    batch, call = record.batch, record.call
    return {
        "_id": call_id(call_key(batch, call)),
        "org_id": batch.org_id,
        "device_id": batch.device_id,
        "customer_id": record.customer_id,
        "at": record.credit.at,
        "occurred_at": call.occurred_at,
        "received_at": batch.received_at,
        "page": call.page,
        **_credit(record.credit),
        "expires_at": RETENTION.expires_at(record.credit.at, days),
        **{name: _exact(value) for name, value in call.fields.items()},
    }


def _exact(value: object) -> object:
    """The value as it is stored. Revenue stays an exact decimal."""
    return Decimal128(value) if isinstance(value, Decimal) else value


def find_credits(
    database: BlockingDatabase, session: BlockingSession, collection: str, device: DeviceKey, since: datetime
) -> dict[CallKey, Credit]:
    """The credits of a device's records since this time, at most the 500 oldest ones."""
    org_id, device_id = device
    condition = {"org_id": org_id, "device_id": device_id, "at": {"$gte": since}}
    fields = {"at": 1, "first_touch": 1, "touch": 1}
    cursor = database[collection].find(condition, fields, session=session).sort("at", 1).limit(MOST_CREDITED)
    return {key_of(found["_id"]): _credit_of(found) for found in cursor}


def credit_update(key: CallKey, credit: Credit) -> UpdateOne:
    """The write that gives a record a new credit."""
    return UpdateOne({"_id": call_id(key)}, {"$set": _credit(credit)})


def _credit(credit: Credit) -> Document:
    return {"first_touch": _touch(credit.first), "touch": _touch(credit.last)}


def _credit_of(document: Document) -> Credit:
    first, last = (
        found and Touch(**known_fields(found, Touch))
        for found in (document["first_touch"], document["touch"])
    )
    return Credit(document["at"], first, last)


def _touch(touch: Touch | None) -> dict[str, Any] | None:
    if touch is None:
        return None
    return {"at": touch.at, "link_id": touch.link_id, "utm": touch.utm, "click_ids": touch.click_ids}
