"""The `identities` collection: the customers that devices were identified as, and what is known of them."""

from __future__ import annotations

import re
from datetime import timedelta

from pymongo import IndexModel, UpdateMany, UpdateOne

from backend.domain.attribution import Device
from backend.domain.intake import Identity
from backend.storage.collection import AgesFrom, Collection, Personal
from backend.storage.mongo import Document
from backend.storage.ownership import ByIdPrefix

NAME = "identities"
# How far an identity may be behind its device in `last_at`, which is when the device was seen last: so each
# outlives it, and whoever is to be erased is found as long as there is anything to erase.
_BEHIND = timedelta(days=1)
RETENTION = AgesFrom("last_at", spare=_BEHIND)
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("customer_id", 1)]),
        IndexModel([("org_id", 1), ("device_id", 1), ("first_at", 1)]),
        IndexModel([("org_id", 1), ("emails_sha256", 1)]),
    ],
    owned_by=ByIdPrefix(),
    personal=Personal(
        customer="customer_id", device="device_id", email_sha256="emails_sha256", erased_after=2
    ),
    retention=RETENTION,
)


# Of the e-mail addresses (hashed) that a customer was identified by, the latest are kept.
_EMAILS_KEPT = 20


def update(identity: Identity, days: int | None) -> UpdateOne:
    """The write that keeps a customer, of a device if one is named, with the name and hashes of the call."""
    known = dict(identity.known)
    email = known.pop("email_sha256", None)
    values = {
        "org_id": identity.org_id,
        **({"device_id": identity.device_id} if identity.device_id else {}),
        "customer_id": identity.customer_id,
        **known,
    }
    changes = {
        # `$literal`, since text from a visitor may look like a field of the document.
        **{name: {"$literal": value} for name, value in values.items()},
        "first_at": {"$min": ["$first_at", identity.at]},
        "last_at": {"$max": ["$last_at", identity.at]},
        **({"emails_sha256": _with_email(email)} if email else {}),
    }
    return UpdateOne({"_id": own_id(identity)}, [{"$set": changes}, *RETENTION.update(days)], upsert=True)


def own_id(identity: Identity) -> str:
    """The `_id` of an identity's document. Without a device, nothing stands in its place."""
    return "/".join((identity.org_id, identity.device_id or "", identity.customer_id))


def renewal(device: Device, days: int | None) -> UpdateMany:
    """The write that keeps a device's identities for as long as the device itself.

    Usually it changes nothing.
    """
    behind = {"$lt": device.last_seen_at - _BEHIND}
    # By ids, which begin like this: so a cluster knows where they are.
    of_device = {"$regex": f"^{re.escape(device.org_id)}/{re.escape(device.id)}/"}
    identities_of = {"_id": of_device, "last_at": behind}
    return UpdateMany(identities_of, [{"$set": {"last_at": device.last_seen_at}}, *RETENTION.update(days)])


def _with_email(email: str) -> Document:
    others = {"$filter": {"input": {"$ifNull": ["$emails_sha256", []]}, "cond": {"$ne": ["$$this", email]}}}
    return {"$slice": [{"$concatArrays": [others, [email]]}, -_EMAILS_KEPT]}
