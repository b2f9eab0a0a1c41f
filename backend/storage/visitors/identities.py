"""Identities: whose devices are. They are stored in the devices, and nowhere else."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from pymongo import DESCENDING

from backend.domain.feed.facts import device_fact, identify_fact
from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.histories import MOST_DEVICES
from backend.domain.visitors.attribution import Device
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.outbox import entries
from backend.storage.outbox.entries import AgesBy
from backend.storage.visitors import devices


def latest_devices(
    database: BlockingDatabase, session: BlockingSession | None, org_id: OrgId, customer_id: CustomerId
) -> dict[DeviceId, Device]:
    """The devices that are or were this customer's, by id: those of the MOST_DEVICES that were seen last."""
    theirs = naming(org_id, [customer_id]) | {
        "customers": {"$elemMatch": {"customer_id": customer_id, "taken_back_at": None, "replaced_at": None}}
    }
    latest = database[devices.NAME].find(theirs, session=session).sort(_LATEST_FIRST).limit(MOST_DEVICES)
    found = map(devices.from_document, latest)
    return {device.id: device for device in found}


def naming(org_id: OrgId, customer_ids: Collection[CustomerId]) -> Document:
    """The query for devices that were ever said to be one of these customers', also wrongly."""
    return {"org_id": org_id, "customers.customer_id": {"$in": list(customer_ids)}}


async def take_back(
    database: Database, org_id: OrgId, device_id: DeviceId, customer_id: CustomerId, at: datetime
) -> bool:
    """Take back that the device is this customer's, for all times until now.

    Returns False, and changes nothing, if no identity of the device as this customer holds: no call told one,
    it was taken back before, or its sale names another customer now. No record changes: readers apply the
    device's history.
    """

    async def work(session: ClientSession) -> bool:
        device = await devices.find_device(database, org_id, device_id, session)
        if device is None or all(identity.customer_id != customer_id for identity in device.standing):
            return False
        await devices.set_history(database, session, device.taken_back(customer_id, at))
        facts = [identify_fact(device_id, customer_id, at, taken_back=True), device_fact(device_id)]
        await entries.note(database, session, {org_id: facts}, AgesBy.VISITORS)
        return True

    return await in_transaction(database, work)


# The device's id breaks ties, as in analytics: `_id` begins alike for all devices of an organization.
_LATEST_FIRST = [("last_seen_at", DESCENDING), ("_id", DESCENDING)]
