"""Completes the lists of touches of devices that a former version stored, a batch at a time.

It kept fewer touches in a device than this one; its leads, conversions and events have copies of some that
are gone. A device that is done is known by a field that former versions did not write, so a move that is
interrupted goes on with the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from backend.domain.ids import DeviceId, OrgId
from backend.domain.visitors.attribution import TOUCHES_KEPT, Device, Touch
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.processes.sweep import Sweep
from backend.storage.sales import conversions, leads
from backend.storage.visitors import devices, events, records

_AT_ONCE = 200
_MOST_RECORDS = 500  # of a device and a kind, the latest
_FORMER: Document = {"direct_visits": {"$exists": False}}
_RECORDS = (leads.NAME, conversions.NAME, events.NAME)


def device_move(database: Database) -> Sweep:
    """Completes devices in the background of a service, and looks again later: an archive may bring some."""
    return Sweep(
        "completing devices of a former version", lambda: complete_devices(database), timedelta(days=1)
    )


async def complete_devices(database: Database) -> int:
    """Complete all devices that wait. Returns how many there were. Raises StorageError."""
    completed, after = 0, ""
    while True:
        scope = _FORMER | {"_id": {"$gt": after}}
        cursor = database[devices.NAME].find(scope, {"org_id": 1, "device_id": 1}).sort("_id", 1)
        found = await cursor.limit(_AT_ONCE).to_list(None)
        for each in found:
            await _complete(database, each["org_id"], each["device_id"])
        if not found:
            return completed
        after = found[-1]["_id"]
        completed += len(found)


async def count_former_devices(database: Database) -> int:
    """How many devices wait to be completed."""
    return await database[devices.NAME].count_documents(_FORMER)


async def _complete(database: Database, org_id: OrgId, device_id: DeviceId) -> None:
    async def work(session: ClientSession) -> None:
        device = await devices.find_device(database, org_id, device_id, session)
        if device:
            copies = await _copies(database, session, device)
            await devices.set_history(database, session, with_copies(device, copies))

    await in_transaction(database, work)


async def _copies(database: Database, session: ClientSession, device: Device) -> list[Touch]:
    """The touches that the device's records have."""
    found: list[Touch] = []
    for name in _RECORDS:
        cursor = (
            database[name]
            .find(
                {"org_id": device.org_id, "device_id": device.id},
                dict.fromkeys(records.TOUCHES, 1),
                session=session,
            )
            .sort("at", -1)
            .limit(_MOST_RECORDS)
        )
        found += _touches(await cursor.to_list(None))
    return found


def _touches(documents: Sequence[Mapping[str, Any]]) -> list[Touch]:
    return [touch for document in documents for touch in records.touches_of(document)]


def with_copies(device: Device, copies: Iterable[Touch]) -> Device:
    """The device with these touches too, those of a moment that it has a touch of left out."""
    kept = {each.at for each in device.touches}
    missing = {each.at: each for each in copies if each.at not in kept}
    touches = sorted((*device.touches, *missing.values()), key=lambda each: each.at)
    return replace(device, touches=tuple(touches[-TOUCHES_KEPT:]))
