"""What leads, conversions and events have in common: the person, the time and the source."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from bson import Decimal128
from pymongo import IndexModel, UpdateOne

from backend.domain.attribution import Credit, Touch
from backend.domain.calls import Kind
from backend.domain.ids import OrgId
from backend.domain.intake import CallKey, DeviceKey
from backend.domain.records import Record
from backend.domain.server_calls import OWN_FIELDS
from backend.storage.blocking import BlockingDatabase, BlockingSession
from backend.storage.calls import document_id, key_of
from backend.storage.collection import AgesFrom
from backend.storage.mongo import Document
from backend.storage.touches import touch_of

# A late touch changes the credit of later records. The limit keeps one device from delaying all calls.
MOST_CREDITED = 500
INDEXES = [
    IndexModel([("org_id", 1), ("at", 1)]),
    IndexModel([("org_id", 1), ("device_id", 1), ("at", 1)]),
    IndexModel([("org_id", 1), ("customer_id", 1)]),
]
TOUCHES = ("first_touch", "touch")
# What a touch has only if it names its click.
CLICK_FIELDS = ("click_at", "click_mark")
RETENTION = AgesFrom("at")


def document(record: Record, days: int | None) -> Document:
    """The stored form of a record. `days` is the organization's retention; None means without limit.

    `at` is the time that counts; `occurred_at` is the time by the browser's clock.
    """
    return {
        "_id": record_id(record),
        "org_id": record.org_id,
        "device_id": record.device_id,
        "customer_id": record.customer_id,
        "at": record.credit.at,
        "occurred_at": record.occurred_at,
        "received_at": record.received_at,
        "page": record.page,
        **_credit(record.credit),
        "expires_at": RETENTION.expires_at(record.credit.at, days),
        **{name: _exact(value) for name, value in record.fields.items()},
    }


def record_id(record: Record) -> str:
    """The `_id` of a record's document."""
    return document_id((record.org_id, record.call_id))


def completion(before: Record, after: Record, days: int | None) -> UpdateOne:
    """The write that adds to a stored record what another telling knew more."""
    stored = document(before, days)
    added = {name: value for name, value in document(after, days).items() if stored.get(name) != value}
    return UpdateOne({"_id": record_id(after)}, {"$set": added})


def having(org_id: OrgId, field: str, ids: Collection[str]) -> Document:
    """The query for an organization's records with one of these ids (such as a transaction_id)."""
    # Of text: without that, the partial indexes on such ids would not serve it.
    return {"org_id": org_id, field: {"$in": list(ids), "$type": "string"}}


def find_records(
    database: BlockingDatabase,
    session: BlockingSession | None,
    collection: str,
    kind: Kind,
    condition: Document,
) -> list[Record]:
    """The records of this kind that the condition finds."""
    found = database[collection].find(condition, session=session)
    return [_from_document(kind, each) for each in found]


def _from_document(kind: Kind, document: Document) -> Record:
    org_id, call_id = key_of(document["_id"])
    return Record(
        kind=kind,
        org_id=org_id,
        call_id=call_id,
        device_id=document["device_id"],
        customer_id=document["customer_id"],
        credit=_credit_of(document),
        occurred_at=document["occurred_at"],
        received_at=document["received_at"],
        page=document.get("page"),
        fields={name: _as_told(document[name]) for name in OWN_FIELDS[kind] if name in document},
    )


def _exact(value: object) -> object:
    """The value as it is stored. Revenue stays an exact decimal."""
    return Decimal128(value) if isinstance(value, Decimal) else value


def _as_told(value: object) -> object:
    return value.to_decimal() if isinstance(value, Decimal128) else value


def find_credits(
    database: BlockingDatabase, session: BlockingSession, collection: str, device: DeviceKey, since: datetime
) -> dict[CallKey, Credit]:
    """The credits of a device's records since this time, at most the 500 oldest ones."""
    org_id, device_id = device
    condition = {"org_id": org_id, "device_id": device_id, "at": {"$gte": since}}
    fields = {"at": 1, "first_touch": 1, "touch": 1}
    cursor = database[collection].find(condition, fields, session=session).sort("at", 1).limit(MOST_CREDITED)
    return {key_of(found["_id"]): _credit_of(found) for found in cursor}


def touches_of(document: Mapping[str, Any]) -> tuple[Touch, ...]:
    """The touches that are kept with a record, each once."""
    found = [document.get(name) for name in TOUCHES]
    kept = [touch_of(each) for each in found if each]
    return tuple(kept[:1] if len(kept) == 2 and kept[0] == kept[1] else kept)


def credit_update(key: CallKey, credit: Credit) -> UpdateOne:
    """The write that gives a record a new credit."""
    return UpdateOne({"_id": document_id(key)}, {"$set": _credit(credit)})


def _credit(credit: Credit) -> Document:
    return {"first_touch": _touch(credit.first), "touch": _touch(credit.last)}


def _credit_of(document: Document) -> Credit:
    first, last = (found and touch_of(found) for found in (document["first_touch"], document["touch"]))
    return Credit(document["at"], first, last)


def _touch(touch: Touch | None) -> dict[str, Any] | None:
    if touch is None:
        return None
    stored = {"at": touch.at, "link_id": touch.link_id, "utm": touch.utm, "click_ids": touch.click_ids}
    rare = ("variant", *CLICK_FIELDS)
    return stored | {name: value for name in rare if (value := getattr(touch, name)) is not None}
