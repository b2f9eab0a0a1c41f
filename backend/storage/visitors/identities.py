"""The `identities` collection: the customers that devices were identified as, with name and hashes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from pymongo import IndexModel, UpdateMany, UpdateOne

from backend.domain.feed.facts import device_fact, identify_fact
from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.decisions import Identity
from backend.domain.sales.histories import MOST_DEVICES
from backend.domain.visitors.attribution import Device
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.outbox import entries
from backend.storage.outbox.entries import AgesBy
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import BY_ID, AgesFrom, Collection, Personal, Stage
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.visitors import devices

NAME = "identities"
# How far `last_at` of an identity may be behind the time when its device was seen last. The identity is kept
# longer by as much, so that a person's devices are found as long as there is anything to erase.
_BEHIND = timedelta(days=1)
RETENTION = AgesFrom("last_at", spare=_BEHIND)
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("customer_id", 1)]),
        IndexModel([("org_id", 1), ("device_id", 1), ("first_at", 1)]),
        IndexModel([("org_id", 1), ("emails_sha256", 1)]),
        IndexModel(
            [("org_id", 1), ("taken_back_at", 1)],
            partialFilterExpression={"taken_back_at": {"$type": "date"}},
        ),
    ],
    owned_by=ByIdPrefix(),
    personal=Personal(
        customer="customer_id", device="device_id", email_sha256="emails_sha256", erased_after=2
    ),
    retention=RETENTION,
    archived=Stage.HISTORY,
    shard_key=BY_ID,
    audited=NotAudited("it is no change by anybody, but what happened"),
)


_LATEST = {"n": MOST_DEVICES, "sortBy": {"last_at": -1, "_id": 1}, "output": "$device_id"}
_TAKEN_BACK = {"$ifNull": ["$taken_back_at", None]}
STANDING: Document = {"taken_back_at": None}
# Of the e-mail addresses (hashed) that a customer was identified by, the latest are kept.
_EMAILS_KEPT = 20


def update(identity: Identity, days: int | None) -> UpdateOne:
    """The write that stores an identity with the name and hashes of its call."""
    details = dict(identity.details)
    email = details.pop("email_sha256", None)
    values = {
        "org_id": identity.org_id,
        **({"device_id": identity.device_id} if identity.device_id else {}),
        "customer_id": identity.customer_id,
        **details,
    }
    changes = {
        # `$literal`, since text from a visitor may look like a field of the document.
        **{name: {"$literal": value} for name, value in values.items()},
        # An identity that was taken back begins again when another call tells it.
        "first_at": {
            "$cond": [{"$eq": [_TAKEN_BACK, None]}, {"$min": ["$first_at", identity.at]}, identity.at]
        },
        "taken_back_at": "$$REMOVE",
        "last_at": {"$max": ["$last_at", identity.at]},
        **({"emails_sha256": _with_email(email)} if email else {}),
    }
    return UpdateOne({"_id": own_id(identity)}, [{"$set": changes}, *RETENTION.update(days)], upsert=True)


def own_id(identity: Identity) -> str:
    """The `_id` of an identity's document. Its middle part is empty for an identity without a device."""
    return "/".join((identity.org_id, identity.device_id or "", identity.customer_id))


def renewal(device: Device, days: int | None) -> UpdateMany:
    """The write that keeps a device's identities for as long as the device itself.

    Usually it matches no document.
    """
    behind = {"$lt": device.last_seen_at - _BEHIND}
    # By ids, which begin like this: so a cluster knows where they are.
    of_device = {"$regex": f"^{re.escape(device.org_id)}/{re.escape(device.id)}/"}
    identities_of = {"_id": of_device, "last_at": behind}
    return UpdateMany(identities_of, [{"$set": {"last_at": device.last_seen_at}}, *RETENTION.update(days)])


def latest_devices(
    database: BlockingDatabase,
    session: BlockingSession | None,
    org_id: OrgId,
    customer_ids: Iterable[CustomerId],
) -> set[DeviceId]:
    """The devices that were ever identified as these customers: for each, the latest MOST_DEVICES."""
    of_device = {"device_id": {"$gt": ""}}
    pipeline: list[Document] = [
        {"$match": {"org_id": org_id, "customer_id": {"$in": list(customer_ids)}} | of_device},
        {"$group": {"_id": "$customer_id", "devices": {"$topN": _LATEST}}},
    ]
    customers = database[NAME].aggregate(pipeline, session=session)
    return {device_id for customer in customers for device_id in customer["devices"]}


async def take_back(
    database: Database, org_id: OrgId, device_id: DeviceId, customer_id: CustomerId, at: datetime
) -> bool:
    """Take back that the device is this customer's, for all times until now.

    Returns False, and changes nothing, if the device has no valid identity as this customer: no call told
    one, it was taken back before, or its sale names another customer now. No record changes: readers apply
    the device's history.
    """

    async def work(session: ClientSession) -> bool:
        device = await devices.find_device(database, org_id, device_id, session)
        identifications = (
            [
                identification
                for identification in device.customers
                if identification.customer_id == customer_id
            ]
            if device
            else []
        )
        if identifications and not any(identification.holds for identification in identifications):
            return False
        own_id = "/".join((org_id, device_id, customer_id))
        changed = await database[NAME].update_one(
            {"_id": own_id} | STANDING, {"$set": {"taken_back_at": at}}, session=session
        )
        if not changed.matched_count:
            return False
        facts = [identify_fact(device_id, customer_id, at, taken_back=True)]
        if device:
            await devices.set_history(database, session, device.taken_back(customer_id, at))
            facts.append(device_fact(device_id))
        await entries.note(database, session, {org_id: facts}, AgesBy.VISITORS)
        return True

    return await in_transaction(database, work)


def _with_email(email: str) -> Document:
    others = {"$filter": {"input": {"$ifNull": ["$emails_sha256", []]}, "cond": {"$ne": ["$$this", email]}}}
    return {"$slice": [{"$concatArrays": [others, [email]]}, -_EMAILS_KEPT]}
