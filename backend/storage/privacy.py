"""Everything that is stored of one person: to hand it over, and to erase it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from backend.storage import conversions, devices, events, identities, leads
from backend.storage.mongo import Database, Document

# Where persons are: identities last, since they say what belongs to whom, and an erasure that was cut short
# can then be run again. Clicks, installs and counters hold no device, customer or address of a person.
COLLECTIONS = (events.NAME, leads.NAME, conversions.NAME, devices.NAME, identities.NAME)


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
    selection = _selection(org_id, await _belongings(database, org_id, subject))
    for name in COLLECTIONS:
        async for document in database[name].find(selection[name]).sort("_id", 1):
            yield name, document


async def erase_subject(database: Database, org_id: str, subject: Subject) -> dict[str, int]:
    """Delete everything about the subject; gives how many documents of each collection were deleted.

    A device that others use as well is kept without the subject. The marks that keep a call_id or transaction
    from counting twice stay: they hold no personal data, and without them what was erased could come back.
    """
    belongings = await _belongings(database, org_id, subject)
    selection = _selection(org_id, belongings)
    await database[devices.NAME].update_many(
        {"org_id": org_id, "device_id": {"$in": belongings.shared}},
        {"$pull": {"customers": {"customer_id": {"$in": belongings.customers}}}},
    )
    return {name: (await database[name].delete_many(selection[name])).deleted_count for name in COLLECTIONS}


def _selection(org_id: str, belongings: _Belongings) -> dict[str, Document]:
    """The condition of each collection for what is the subject's."""
    customers = {"customer_id": {"$in": belongings.customers}}
    own_devices = {"device_id": {"$in": belongings.devices}}
    # What a device did before it was identified is its first customer's.
    unidentified = {"device_id": {"$in": belongings.first_on}, "customer_id": None}
    email = [{"email_sha256": belongings.email_sha256}] if belongings.email_sha256 else []
    record = {"org_id": org_id, "$or": [customers, own_devices, unidentified]}
    return {
        events.NAME: record,
        conversions.NAME: record,
        leads.NAME: record | {"$or": [customers, own_devices, unidentified, *email]},
        devices.NAME: {"org_id": org_id} | own_devices,
        identities.NAME: {"org_id": org_id, "$or": [customers, own_devices, *email]},
    }


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
