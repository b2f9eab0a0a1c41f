"""Identities: whose devices are. They are stored in the devices, and nowhere else."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from pymongo import DESCENDING

from backend.domain.feed.facts import device_fact, identify_fact
from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.histories import MOST_DEVICES, MOST_FIRST, MOST_LATEST
from backend.domain.visitors.attribution import Device
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.outbox import entries
from backend.storage.outbox.entries import AgesBy
from backend.storage.visitors import devices


def counting_devices(
    database: BlockingDatabase, session: BlockingSession | None, org_id: OrgId, customer_id: CustomerId
) -> dict[DeviceId, Device]:
    """Those devices that are or were this customer's and count (domain/sales/histories), by id."""
    named = naming(org_id, [customer_id])
    holding = {"customer_id": customer_id, "taken_back_at": None, "replaced_at": None}
    by_server = {"customers": {"$elemMatch": holding | {"is_server": True}}}
    is_of_browsers = {"$nor": [by_server], "customers": {"$elemMatch": holding}}
    found = database[devices.NAME]
    told_by_servers = found.find(named | by_server, session=session).sort(_LATEST_FIRST).limit(MOST_DEVICES)
    others = found.find(named | is_of_browsers, session=session).sort(_LATEST_FIRST)
    told_by_browsers = list(others.limit(MOST_LATEST + MOST_FIRST + 1))
    if len(told_by_browsers) > MOST_LATEST + MOST_FIRST:
        del told_by_browsers[MOST_LATEST:]
        latest = {document["_id"] for document in told_by_browsers}
        pipeline = [{"$match": named | is_of_browsers}, *_told_first(holding)]
        first = [document["_id"] for document in found.aggregate(pipeline, session=session)]
        earlier = [own_id for own_id in first if own_id not in latest][:MOST_FIRST]
        told_by_browsers += found.find({"org_id": org_id, "_id": {"$in": earlier}}, session=session)
    counting = map(devices.from_document, (*told_by_servers, *told_by_browsers))
    return {device.id: device for device in counting}


def _told_first(holding: Document) -> list[Document]:
    """The stages that leave the ids of devices, first those of which such an identity was told first.

    There are enough of them for the MOST_FIRST that are not among the MOST_LATEST.
    """
    alike = [
        {"$eq": [{"$ifNull": [f"$$this.{name}", None]}, {"$literal": value}]}
        for name, value in holding.items()
    ]
    identities_of = {"$filter": {"input": "$customers", "cond": {"$and": alike}}}
    told_at = {"$ifNull": ["$$this.received_at", "$$this.at"]}
    return [
        {"$project": {"told_at": {"$min": {"$map": {"input": identities_of, "in": told_at}}}}},
        {"$sort": {"told_at": 1, "_id": 1}},
        {"$limit": MOST_LATEST + MOST_FIRST},
    ]


def identified_as(org_id: OrgId, customer_id: CustomerId, **also: object) -> Document:
    """The query for devices with an identity as this customer that holds, and that `also` is so."""
    identity = {"customer_id": customer_id, "taken_back_at": None, "replaced_at": None, **also}
    return naming(org_id, [customer_id]) | {"customers": {"$elemMatch": identity}}


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
