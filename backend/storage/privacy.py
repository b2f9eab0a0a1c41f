"""Everything that is stored of one person: to hand it over, and to erase it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.storage import devices, identities
from backend.storage.collection import IN_ID, Personal
from backend.storage.collections import personal_collections
from backend.storage.mongo import Database, Document


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose data is meant: a customer, a device, or whoever an e-mail address (hashed) belongs to."""

    customer_id: str | None = None
    device_id: str | None = None
    email_sha256: str | None = None


@dataclass(slots=True)
class _Belongings:
    """What is a subject's. `shared` devices have other users too; `first_on` are those they used first."""

    email_sha256: str | None
    customers: list[str]
    devices: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    first_on: list[str] = field(default_factory=list)


async def export_subject(
    database: Database, org_id: str, subject: Subject
) -> AsyncIterator[tuple[str, Document]]:
    """Every document about the subject, with its collection's name; of a shared device only its use."""
    belongings = await _belongings(database, org_id, subject)
    for each, personal in personal_collections():
        condition = each.scope(org_id) | _condition(org_id, personal, belongings)
        async for document in database[each.name].find(condition).sort("_id", 1):
            yield each.name, document


async def erase_subject(database: Database, org_id: str, subject: Subject) -> dict[str, int]:
    """Delete everything about the subject; gives how many documents of each collection were deleted.

    A device that others use as well is kept without the subject. The marks that keep a call_id or transaction
    from counting twice stay: they hold no personal data, and without them what was erased could come back.
    """
    belongings = await _belongings(database, org_id, subject)
    await database[devices.NAME].update_many(
        {"org_id": org_id, "device_id": {"$in": belongings.shared}},
        {"$pull": {"customers": {"customer_id": {"$in": belongings.customers}}}},
    )
    erased = {}
    for each, personal in personal_collections():
        condition = each.scope(org_id) | _condition(org_id, personal, belongings)
        erased[each.name] = (await database[each.name].delete_many(condition)).deleted_count
    return erased


def _condition(org_id: str, personal: Personal, belongings: _Belongings) -> Document:
    """Selects what is the subject's of a collection that names persons so."""
    email = [belongings.email_sha256] if belongings.email_sha256 else []
    conditions = [
        _names(org_id, personal.customer, belongings.customers),
        _names(org_id, personal.device, belongings.devices),
        _names(org_id, personal.email_sha256, email),
    ]
    if personal.device and personal.customer:
        # What a device did before it was identified is its first customer's.
        unidentified = {personal.customer: None}
        conditions.append(_names(org_id, personal.device, belongings.first_on) | unidentified)
    return {"$or": conditions}


def _names(org_id: str, field: str | None, ids: Sequence[str]) -> Document:
    """Selects what has one of these ids in the field; nothing where there is no field."""
    if field == IN_ID or field is None:
        ids = [f"{org_id}/{each}" for each in ids if field]
    return {field or IN_ID: {"$in": ids}}


async def _belongings(database: Database, org_id: str, subject: Subject) -> _Belongings:
    customers = await _customers(database, org_id, subject)
    belongings = _Belongings(subject.email_sha256, customers)
    used = await database[identities.NAME].distinct(
        "device_id", {"org_id": org_id, "customer_id": {"$in": customers}}
    )
    for device_id in used:
        users = await _users(database, org_id, device_id)
        if set(users) <= set(customers):
            belongings.devices.append(device_id)
            continue
        belongings.shared.append(device_id)
        if users[0] in customers:
            belongings.first_on.append(device_id)
    if subject.device_id:
        belongings.devices.append(subject.device_id)
    return belongings


async def _customers(database: Database, org_id: str, subject: Subject) -> list[str]:
    if subject.customer_id:
        return [subject.customer_id]
    if not subject.email_sha256:
        return []
    condition: dict[str, Any] = {"org_id": org_id, "email_sha256": subject.email_sha256}
    return list(await database[identities.NAME].distinct("customer_id", condition))


async def _users(database: Database, org_id: str, device_id: str) -> list[str]:
    """The customers of a device, the first one first."""
    cursor = database[identities.NAME].find({"org_id": org_id, "device_id": device_id}).sort("first_at", 1)
    return [found["customer_id"] async for found in cursor]
