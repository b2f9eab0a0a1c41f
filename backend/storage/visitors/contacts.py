"""The `contacts` collection: names and hashed addresses that calls told of customers, by device and customer.

Whose a device is, is not asked here but of the device (storage/visitors/identities): a contact may be of a
device that was never the customer's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum

from pymongo import IndexModel, UpdateMany, UpdateOne

from backend.domain.ids import CustomerId, OrgId
from backend.domain.sales.decisions import Contact
from backend.domain.visitors.attribution import Device
from backend.storage.driver.mongo import Document
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import BY_ID, AgesFrom, Collection, Personal, Stage
from backend.storage.schema.ownership import ByIdPrefix

NAME = "contacts"
# The addresses that a server told of the customer, besides `emails_sha256`, which has those of browsers too.
EMAILS_BY_SERVERS = "emails_by_servers"
# How far `last_at` of a contact may be behind the time when its device was seen last. The contact is kept
# longer by as much, so that a person is found by an address as long as there is anything to erase.
_BEHIND = timedelta(days=1)
RETENTION = AgesFrom("last_at", spare=_BEHIND)
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("customer_id", 1)]),
        IndexModel([("org_id", 1), ("device_id", 1)]),
        IndexModel([("org_id", 1), ("emails_sha256", 1)]),
        IndexModel(
            [("org_id", 1), (EMAILS_BY_SERVERS, 1)],
            partialFilterExpression={EMAILS_BY_SERVERS: {"$gt": ""}},
        ),
    ],
    owned_by=ByIdPrefix(),
    personal=Personal(customer="customer_id", device="device_id", email_sha256="emails_sha256"),
    retention=RETENTION,
    archived=Stage.HISTORY,
    shard_key=BY_ID,
    audited=NotAudited("it is no change by anybody, but what happened"),
)


class SaidBy(StrEnum):
    """Who told of a customer: the values of the field `told_by`."""

    BROWSER = "browser"
    SERVER = "server"


# Of the e-mail addresses (hashed) that a customer was identified by, the latest are kept.
EMAILS_KEPT = 20


def update(contact: Contact, days: int | None) -> UpdateOne:
    """The write that stores a contact with the name and hashes of its call."""
    details = dict(contact.details)
    email = details.pop("email_sha256", None)
    values = {
        "org_id": contact.org_id,
        **({"device_id": contact.device_id} if contact.device_id else {}),
        "customer_id": contact.customer_id,
        **details,
    }
    changes = {
        # `$literal`, since text from a visitor may look like a field of the document.
        **{name: {"$literal": value} for name, value in values.items()},
        "last_at": {"$max": ["$last_at", contact.at]},
        "told_by": {"$setUnion": [{"$ifNull": ["$told_by", []]}, [_teller(contact)]]},
        **({"emails_sha256": _with_email("emails_sha256", email)} if email else {}),
        **({EMAILS_BY_SERVERS: _with_email(EMAILS_BY_SERVERS, email)} if email and contact.is_server else {}),
    }
    return UpdateOne({"_id": own_id(contact)}, [{"$set": changes}, *RETENTION.update(days)], upsert=True)


def _teller(contact: Contact) -> str:
    return (SaidBy.SERVER if contact.is_server else SaidBy.BROWSER).value


def own_id(contact: Contact) -> str:
    """The `_id` of a contact's document. Its middle part is empty for a contact without a device."""
    return "/".join((contact.org_id, contact.device_id or "", contact.customer_id))


def renewal(device: Device, days: int | None) -> UpdateMany:
    """The write that keeps a device's contacts for as long as the device itself.

    Usually it matches no document.
    """
    behind = {"$lt": device.last_seen_at - _BEHIND}
    # By ids, which begin like this: so a cluster knows where they are.
    of_device = {"$regex": f"^{re.escape(device.org_id)}/{re.escape(device.id)}/"}
    contacts_of = {"_id": of_device, "last_at": behind}
    return UpdateMany(contacts_of, [{"$set": {"last_at": device.last_seen_at}}, *RETENTION.update(days)])


def naming_emails(org_id: OrgId, emails: Iterable[str], but_of: Iterable[CustomerId]) -> Document:
    """The query for contacts with these hashed addresses, but for those of some customers."""
    of_others = {"org_id": org_id, "customer_id": {"$nin": sorted(but_of)}}
    return of_others | {"emails_sha256": {"$in": sorted(emails)}}


def without_emails(emails: Iterable[str]) -> Document:
    """The change that removes these hashed addresses from contacts."""
    return {"$pull": {"emails_sha256": {"$in": sorted(emails)}}}


def _with_email(field: str, email: str) -> Document:
    others = {"$filter": {"input": {"$ifNull": [f"${field}", []]}, "cond": {"$ne": ["$$this", email]}}}
    return {"$slice": [{"$concatArrays": [others, [email]]}, -EMAILS_KEPT]}
