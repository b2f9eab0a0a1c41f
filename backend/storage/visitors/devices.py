"""The `devices` collection: browsers, with their touches, ad click ids and customers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import datetime
from typing import Any

from pymongo import IndexModel, UpdateOne

from backend.domain.ids import DeviceId, OrgId
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.decisions import DeviceKey
from backend.domain.sales.histories import History
from backend.domain.sales.told_facts import Identified
from backend.domain.visitors.attribution import (
    ClickId,
    Device,
    DirectVisit,
    Identification,
    Touch,
)
from backend.domain.visitors.device_clock import MILLISECOND, DeviceClock
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession, in_thread
from backend.storage.driver.mongo import ClientSession, Database, Document, known_fields
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import BY_ID, IN_ID, AgesFrom, Collection, Personal, Stage
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.visitors.touches import touch_document, touch_of

NAME = "devices"
RETENTION = AgesFrom("last_seen_at")
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("first_seen_at", 1)]),
        # For the devices of a customer, those that were seen last first; most devices have no customer.
        IndexModel(
            [("org_id", 1), ("customers.customer_id", 1), ("last_seen_at", -1), ("_id", -1)],
            partialFilterExpression={"customers.customer_id": {"$gt": ""}},
        ),
    ],
    owned_by=ByIdPrefix(),
    personal=Personal(device=IN_ID),
    retention=RETENTION,
    archived=Stage.HISTORY,
    shard_key=BY_ID,
    audited=NotAudited("it is no change by anybody, but what happened"),
)


def find_devices(
    database: BlockingDatabase, session: BlockingSession | None, keys: Iterable[DeviceKey]
) -> dict[DeviceKey, Device]:
    """Those of these devices that are stored, by key."""
    ids = [own_id(*key) for key in keys]
    devices = [
        from_document(document) for document in database[NAME].find({"_id": {"$in": ids}}, session=session)
    ]
    return {(device.org_id, device.id): device for device in devices}


async def find_device(
    database: Database, org_id: OrgId, device_id: DeviceId, session: ClientSession | None = None
) -> Device | None:
    """The organization's device with this id; None if it is not stored."""
    return (await find_by_ids(database, org_id, [device_id], session)).get(device_id)


async def find_by_ids(
    database: Database, org_id: OrgId, device_ids: Iterable[DeviceId], session: ClientSession | None = None
) -> dict[DeviceId, Device]:
    """Those of these devices of the organization that are stored, by id."""
    keys = [(org_id, device_id) for device_id in device_ids]
    within = session.delegate if session else None
    found = await in_thread(database, lambda blocking: find_devices(blocking, within, keys))
    return {device.id: device for device in found.values()}


async def set_history(database: Database, session: ClientSession, device: Device) -> None:
    """Store the history of a device that is stored already. Does nothing if it was deleted."""
    stored = document(device)
    history = {name: stored[name] for name in _HISTORY}
    await database[NAME].update_one({"_id": stored["_id"]}, {"$set": history}, session=session)


async def touch(
    database: Database, session: ClientSession, org_id: OrgId, device_ids: Iterable[DeviceId]
) -> None:
    """Have this transaction conflict with others that write one of these devices."""
    own = {"_id": {"$in": [own_id(org_id, device_id) for device_id in device_ids]}, "org_id": org_id}
    await database[NAME].update_many(own, {"$inc": {"revision": 1}}, session=session)


async def first_and_last_arrival(database: Database, org_id: OrgId) -> tuple[datetime, datetime] | None:
    """The times when the organization's first and its newest device arrived; None if it has no devices."""
    ends = [
        document["first_seen_at"]
        for order in (1, -1)
        async for document in database[NAME].find({"org_id": org_id}).sort("first_seen_at", order).limit(1)
    ]
    return (ends[0], ends[-1]) if ends else None


def update(device: Device, before: Device | None, days: int | None) -> UpdateOne:
    """The write that stores a device, which was stored as `before` until now; None if it was not stored.

    `days` is the organization's retention; None means without limit.

    It always changes the document, even if nothing about the device is new. So if two transactions write the
    same device, the server stops one of them; it then starts again and sees what the other one stored.
    """
    stored = _changes(device, before) if before else document(device)
    stored["expires_at"] = RETENTION.expires_at(device.last_seen_at, days)
    stored.pop("_id", None)
    query = {"_id": own_id(device.org_id, device.id)}
    return UpdateOne(query, {"$set": stored, "$inc": {"revision": 1}}, upsert=True)


def document(device: Device) -> Document:
    """The stored form of a device."""
    return {
        "_id": own_id(device.org_id, device.id),
        "device_id": device.id,
        "org_id": device.org_id,
        **{name: form(getattr(device, name)) for name, form in _FORMS.items()},
    }


def _changes(device: Device, before: Device) -> Document:
    """The stored form of the fields that have changed."""
    return {
        name: form(value)
        for name, form in _FORMS.items()
        if (value := getattr(device, name)) != getattr(before, name)
    }


def own_id(org_id: OrgId, device_id: DeviceId) -> str:
    """The `_id` of a device's document."""
    return f"{org_id}/{device_id}"


def owners_of(document: Document) -> History[None]:
    """The history of a stored device with its customers over time, and without its visits."""
    identified = [
        Identified(
            identification.at,
            identification.received_at,
            identification.customer_id,
            identification.taken_back_at,
            identification.replaced_at,
            identification.is_server,
        )
        for identification in map(_identification, document["customers"])
    ]
    own_id, seen_at = document["device_id"], document["last_seen_at"]
    return History[None].of(own_id, seen_at, (), identified, CreditRules())


def _unchanged(value: Any) -> Any:
    return value


def _touches(touches: Iterable[Touch]) -> list[Document | None]:
    return [touch_document(touch) for touch in touches]


def _click_ids(click_ids: Iterable[ClickId]) -> list[Document]:
    return [{"name": click_id.name, "value": click_id.value, "at": click_id.at} for click_id in click_ids]


def _customers(customers: Iterable[Identification]) -> list[Document]:
    return [_customer(identification) for identification in customers]


def _customer(identification: Identification) -> Document:
    stored = {name: getattr(identification, name) for name in _CUSTOMER}
    rare = {name: getattr(identification, name) for name in _RARE}
    return stored | {name: value for name, value in rare.items() if value}


def _identification(stored: Document) -> Identification:
    # Not by `known_fields`, which takes several times as long: a device has many.
    get = stored.get
    return Identification(
        stored["customer_id"],
        stored["at"],
        get("received_at"),
        get("taken_back_at"),
        get("sale"),
        get("replaced_at"),
        get("is_server", False),
    )


def _direct_visits(visits: Iterable[DirectVisit]) -> list[Document]:
    return [{"at": visit.at, "received_at": visit.received_at} for visit in visits]


def _clocks(clocks: Iterable[DeviceClock]) -> list[int]:
    return [clock // MILLISECOND for clock in clocks]


_RARE = ("sale", "replaced_at", "is_server")  # few identities have these
_CUSTOMER = tuple(item.name for item in fields(Identification) if item.name not in _RARE)
_HISTORY = ("first_touch", "touches", "click_ids", "customers", "direct_visits")
# How each field of a device is stored, except for those in its id.
_FORMS: dict[str, Callable[[Any], Any]] = {
    "first_seen_at": _unchanged,
    "last_seen_at": _unchanged,
    "first_touch": touch_document,
    "touches": _touches,
    "click_ids": _click_ids,
    "customers": _customers,
    "clocks": _clocks,
    "direct_visits": _direct_visits,
}


def from_document(document: dict[str, Any]) -> Device:
    """The device in a document."""
    first = document["first_touch"]
    return Device(
        org_id=document["org_id"],
        id=document["device_id"],
        first_seen_at=document["first_seen_at"],
        last_seen_at=document["last_seen_at"],
        first_touch=touch_of(first) if first else None,
        touches=tuple(map(touch_of, document["touches"])),
        click_ids=tuple(ClickId(**known_fields(click_id, ClickId)) for click_id in document["click_ids"]),
        customers=tuple(map(_identification, document["customers"])),
        clocks=tuple(clock * MILLISECOND for clock in document["clocks"]),
        direct_visits=tuple(
            DirectVisit(**known_fields(visit, DirectVisit)) for visit in document["direct_visits"]
        ),
    )
