"""Says whom an erasure will reach, and who said so, before it is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.visitors.persons import Subject
from backend.storage.driver.mongo import Database, Document
from backend.storage.visitors import contacts, devices, identities

# Of more customers, the rest is left out. A person has few.
MOST_SHOWN = 100
_ORDER = "order"


@dataclass(frozen=True, slots=True)
class Reached:
    """A customer whom an erasure reaches. `said_by` is who said so: "browser", "server" or "order".

    `devices` is how many are or were the customer's. With `only_on`, only what the customer did on this
    device is erased.
    """

    customer_id: CustomerId
    said_by: Sequence[str]
    devices: int
    only_on: DeviceId | None = None

    @property
    def in_words(self) -> str:
        """A line that says it."""
        number = f"{self.devices:,} device{'' if self.devices == 1 else 's'}"
        what = f"only what was done on device {self.only_on}" if self.only_on else f"with {number}"
        return f"Customer {self.customer_id}, {what} (said by {', '.join(self.said_by) or 'nobody yet'})"


async def find_reached(database: Database, org_id: OrgId, subject: Subject) -> list[Reached]:
    """The customers whom the erasure of this subject will reach: at most MOST_SHOWN and one more."""
    if subject.customer_id:
        return [await _reached(database, org_id, subject.customer_id)]
    if subject.email_sha256:
        return await _by_address(database, org_id, subject.email_sha256)
    if subject.device_id:
        device = await devices.find_device(database, org_id, subject.device_id)
        standing = device.standing if device else ()
        names = sorted({identity.customer_id for identity in standing if identity.customer_id})
        return [await _reached(database, org_id, name, subject.device_id) for name in names]
    return []


async def _by_address(database: Database, org_id: OrgId, email: str) -> list[Reached]:
    named: Document = {"org_id": org_id, "emails_sha256": email}
    by_servers = {"org_id": org_id, contacts.EMAILS_BY_SERVERS: email}
    found = database[contacts.NAME].find(by_servers, {"customer_id": 1}).limit(MOST_SHOWN + 1)
    ids = sorted({contact["customer_id"] async for contact in found})
    reached = [
        Reached(own_id, [contacts.SaidBy.SERVER], await _count_devices(database, org_id, own_id))
        for own_id in ids
    ]
    told_by_browsers = named | {contacts.EMAILS_BY_SERVERS: {"$ne": email}, "customer_id": {"$nin": ids}}
    others = database[contacts.NAME].find(told_by_browsers).limit(MOST_SHOWN + 1 - len(reached))
    return reached + [
        Reached(contact["customer_id"], [contacts.SaidBy.BROWSER], 1, contact["device_id"])
        async for contact in others
    ]


async def _reached(
    database: Database, org_id: OrgId, customer_id: CustomerId, only_on: DeviceId | None = None
) -> Reached:
    on_device: Document = {"device_id": only_on} if only_on else {}
    of_customer: Document = {"org_id": org_id, "customer_id": customer_id}
    said_by: Iterable[str] = await database[contacts.NAME].distinct("told_by", of_customer | on_device)
    ordered = identities.identified_as(org_id, customer_id, sale={"$gt": ""}) | on_device
    if await database[devices.NAME].find_one(ordered, {"_id": 1}):
        said_by = [*said_by, _ORDER]
    count = 1 if only_on else await _count_devices(database, org_id, customer_id)
    return Reached(customer_id, sorted(said_by), count, only_on)


async def _count_devices(database: Database, org_id: OrgId, customer_id: CustomerId) -> int:
    return int(await database[devices.NAME].count_documents(identities.identified_as(org_id, customer_id)))
