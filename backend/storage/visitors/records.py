"""Stores what leads, conversions and events have in common: the person, the time and the source."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from bson import Decimal128
from pymongo import IndexModel, UpdateOne

from backend.domain.ids import OrgId
from backend.domain.sales.decisions import CallKey, DeviceKey
from backend.domain.sales.records import PAGE, Record
from backend.domain.visitors.attribution import Credit, Touch
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.server_calls import OWN_FIELDS
from backend.domain.visitors.tellings import Telling
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession
from backend.storage.driver.mongo import Document
from backend.storage.schema.collection import AgesFrom
from backend.storage.visitors.calls import document_id, key_of
from backend.storage.visitors.touches import touch_document, touch_of

# A late touch changes the credit of later records. The limit keeps one device from delaying all calls.
MOST_CREDITED = 500
INDEXES = [
    IndexModel([("org_id", 1), ("at", 1)]),
    IndexModel([("org_id", 1), ("device_id", 1), ("at", 1)]),
    IndexModel([("org_id", 1), ("customer_id", 1)]),
]
TOUCHES = ("first_touch", "touch")
# The field with a record's tellings. A single telling by a browser is in the record's own fields instead, and
# so are the fields that a single telling by a server told.
TELLINGS = "tellings"
TOLD_AT = f"{TELLINGS}.at"
# The fields that one of several tellings told, in the telling.
FIELDS = "fields"
# Partial indexes, since most records have no field `tellings`.
TELLING_INDEXES = [
    IndexModel([("org_id", 1), (field, 1)], partialFilterExpression={field: {"$exists": True}})
    for field in (TOLD_AT, f"{TELLINGS}.customer_id", f"{TELLINGS}.device_id")
]
_ALWAYS_TOLD = ("received_at", "at", "occurred_at", "device_id", "customer_id", "is_server")
RETENTION = AgesFrom("at")


def document(record: Record, days: int | None) -> Document:
    """The stored form of a record. `days` is the organization's retention; None means without limit.

    `at` is the time that counts, and `occurred_at` the time by the first teller's clock. `customer_id` is the
    customer that a telling named, and not the owner of the device.
    """
    combined = record.combined
    return {
        "_id": record_id(record),
        "org_id": record.org_id,
        "device_id": combined.device_id,
        "customer_id": combined.customer_id,
        "at": combined.at,
        "occurred_at": record.tellings[0].occurred_at,
        "received_at": combined.received_at,
        "page": record.page,
        **_credit(record.credit),
        "expires_at": RETENTION.expires_at(combined.at, days),
        **_tellings(record.tellings),
        **{name: _exact(value) for name, value in record.fields.items()},
    }


def _tellings(tellings: Sequence[Telling[Touch]]) -> Document:
    if len(tellings) == 1 and not tellings[0].is_server:
        return {}
    return {TELLINGS: [_telling(telling, has_fields=len(tellings) > 1) for telling in tellings]}


def _telling(telling: Telling[Touch], *, has_fields: bool) -> Document:
    stored: Document = {name: getattr(telling, name) for name in _ALWAYS_TOLD}
    visit = {"visit": touch_document(telling.visit)} if telling.visit else {}
    fields = {FIELDS: {name: _exact(value) for name, value in telling.fields.items()}} if has_fields else {}
    return stored | visit | fields


def record_id(record: Record) -> str:
    """The `_id` of a record's document."""
    return document_id((record.org_id, record.call_id))


def change(before: Record, after: Record, days: int | None) -> UpdateOne:
    """The write that makes another record of a stored one: which has another telling, or forgets somebody."""
    stored, wanted = document(before, days), document(after, days)
    changed = {name: value for name, value in wanted.items() if name not in stored or stored[name] != value}
    gone = dict.fromkeys(stored.keys() - wanted.keys(), "")
    return UpdateOne({"_id": record_id(after)}, {"$set": changed} | ({"$unset": gone} if gone else {}))


def having(org_id: OrgId, field: str, ids: Collection[str]) -> Document:
    """The query for an organization's records with one of these ids (such as a transaction_id)."""
    # The type is named, or the query would not use the partial indexes on such ids.
    return {"org_id": org_id, field: {"$in": list(ids), "$type": "string"}}


def since(device: DeviceKey, at: datetime) -> Document:
    """The query for a device's records since this time."""
    org_id, device_id = device
    return {"org_id": org_id, "device_id": device_id, "at": {"$gte": at}}


def find_records(
    database: BlockingDatabase,
    session: BlockingSession | None,
    collection: str,
    kind: Kind,
    condition: Document,
    *,
    most: int = 0,
) -> list[Record]:
    """The records of this kind that the condition finds, oldest first; `most` of them, or all for 0."""
    cursor = database[collection].find(condition, session=session).sort("at", 1).limit(most)
    return [record_of(kind, document) for document in cursor]


def record_of(kind: Kind, document: Document) -> Record:
    """The record of this kind that a document holds."""
    org_id, call_id = key_of(document["_id"])
    tellings = tellings_of(kind, document)
    return Record(kind, org_id, call_id, tellings, credit=_credit_of(document))


def tellings_of(kind: Kind, document: Mapping[str, Any]) -> tuple[Telling[Touch], ...]:
    """The tellings of the record that a document holds."""
    stored = document.get(TELLINGS) or [document]
    if len(stored) > 1:
        return tuple(_telling_of(telling, telling[FIELDS]) for telling in stored)
    names = (PAGE, *OWN_FIELDS[kind])
    told = {name: value for name in names if (value := document.get(name)) is not None}
    return (_telling_of(stored[0], told),)


def _telling_of(stored: Mapping[str, Any], fields: Mapping[str, Any]) -> Telling[Touch]:
    visit = stored.get("visit")
    return Telling(
        stored.get("received_at") or stored["at"],
        stored["at"],
        stored["device_id"],
        stored["customer_id"],
        stored.get("is_server", False),
        touch_of(visit) if visit else None,
        stored.get("occurred_at"),
        {name: _as_told(value) for name, value in fields.items()},
    )


def _exact(value: object) -> object:
    """The value as it is stored. Revenue stays an exact decimal."""
    return Decimal128(value) if isinstance(value, Decimal) else value


def _as_told(value: object) -> object:
    return value.to_decimal() if isinstance(value, Decimal128) else value


def credit_update(key: CallKey, credit: Credit) -> UpdateOne:
    """The write that gives a record a new credit."""
    return UpdateOne({"_id": document_id(key)}, {"$set": _credit(credit)})


def _credit(credit: Credit) -> Document:
    return {"first_touch": touch_document(credit.first), "touch": touch_document(credit.last)}


def _credit_of(document: Mapping[str, Any]) -> Credit:
    first, last = (touch and touch_of(touch) for touch in (document["first_touch"], document["touch"]))
    return Credit(first, last)
