"""Finds what belongs to a person, piece by piece: devices, records, contacts, and documents of other kinds.

Whose something is, says domain/sales/belongings. A person may have more devices than a query or a
transaction can have, such as a customer "guest"; no piece has more than so many documents.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace

from backend.domain.apps.installs import device_of
from backend.domain.ids import CustomerId, DeviceId, InstallId, OrgId
from backend.domain.sales.belongings import EMAIL, part_of
from backend.domain.visitors.attribution import Device
from backend.domain.visitors.persons import Person, Subject
from backend.storage.driver.mongo import Cursor, Database, Document
from backend.storage.feed.loaders.records import COLLECTIONS as RECORDS
from backend.storage.lifecycle.collections import personal_collections
from backend.storage.lifecycle.privacy.personal_records import Naming
from backend.storage.sales import leads
from backend.storage.schema.collection import IN_ID
from backend.storage.visitors import contacts, devices, identities

# The most documents of each kind in a piece.
MOST_IN_PIECE = 500
_OWN_PIECES = frozenset({devices.NAME, contacts.NAME, *RECORDS.values()})


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of what may belong to a person, in the order in which it is erased.

    First come `devices` with all records of them, but for leads that name an address of the person. Then come
    `records`, and `contacts`. If it `is_elsewhere`, what names the person in all other collections comes too.
    """

    person: Person
    devices: Sequence[Device] = ()
    records: Naming | None = None
    contacts: Sequence[Document] = ()
    installs: Sequence[InstallId] = ()
    is_elsewhere: bool = False

    @property
    def whole_devices(self) -> list[DeviceId]:
        """The devices that are the person's alone."""
        alone = {device.id for device in self.devices if part_of(self.person, device).is_whole}
        return sorted(alone | self.person.devices)


async def pieces(
    database: Database, org_id: OrgId, subject: Subject, most: int = MOST_IN_PIECE
) -> AsyncIterator[Piece]:
    """Everything that may belong to the subject. What was erased of a piece is not found again.

    A customer is followed to the addresses that servers told of this customer and of no other. An address is
    followed to all customers of whom servers told it. Where only a browser told it of a customer, it is
    followed to what that customer did on that browser.
    """
    find = _Finder(database, org_id, most)
    if subject.customer_id:
        async for piece in find.of_customers([subject.customer_id]):
            yield piece
    if email := subject.email_sha256:
        # These come first: of what follows, the address is removed from contacts of others.
        async for page in find.contacts({"emails_sha256": email, contacts.EMAILS_BY_SERVERS: {"$ne": email}}):
            yield await find.on_devices(page)
        told_by_servers: Document = {contacts.EMAILS_BY_SERVERS: email}
        async for page in find.contacts(told_by_servers):
            async for piece in find.of_customers(_customers(page), told_by_servers):
                yield piece
        async for piece in find.of_addresses([email]):
            yield piece
    if device_id := subject.device_id or (device_of(subject.install_id) if subject.install_id else None):
        async for piece in find.of_device(device_id):
            yield piece
    if subject.install_id:
        yield Piece(Person(), installs=[subject.install_id], is_elsewhere=True)


def elsewhere(org_id: OrgId, person: Person, installs: Sequence[InstallId]) -> list[tuple[str, Document]]:
    """The collections with other documents of persons than those in pieces, each with its query."""
    found = []
    for collection, personal in personal_collections():
        fields: dict[str | None, Sequence[str]] = {
            personal.customer: sorted(person.customers),
            personal.device: sorted(person.devices),
            personal.email_sha256: sorted(person.emails),
            personal.install: list(installs),
        }
        named = [_names(org_id, field, ids) for field, ids in fields.items() if field and ids]
        if named and collection.name not in _OWN_PIECES:
            found.append((collection.name, collection.scope(org_id) | {"$or": named}))
    return found


def _names(org_id: OrgId, field: str, ids: Sequence[str]) -> Document:
    return {field: {"$in": [f"{org_id}/{own_id}" for own_id in ids] if field == IN_ID else ids}}


def _customers(found: Iterable[Document]) -> list[CustomerId]:
    return sorted({contact["customer_id"] for contact in found})


@dataclass(frozen=True, slots=True)
class _Finder:
    database: Database
    org_id: OrgId
    most: int

    async def of_customers(
        self, customer_ids: Sequence[CustomerId], found_by: Document | None = None
    ) -> AsyncIterator[Piece]:
        """The pieces of these customers. Contacts come last by which they were found, and are found again."""
        person = Person(frozenset(customer_ids))
        theirs = self.database[devices.NAME].find(identities.naming(self.org_id, customer_ids))
        async for page in self._pages(theirs):
            yield Piece(person, devices=[devices.from_document(document) for document in page])
        yield Piece(person, records=Naming("customer_id", customer_ids), is_elsewhere=True)
        of_them: Document = {"customer_id": {"$in": list(customer_ids)}}
        for condition in [{"$nor": [found_by]}, found_by] if found_by else [{}]:
            async for contact_page in self.contacts(of_them | condition):
                emails = await self._only_of(customer_ids, contact_page)
                if emails:
                    async for piece in self.of_addresses(emails):
                        yield replace(piece, person=replace(piece.person, customers=person.customers))
                yield Piece(person, contacts=contact_page)

    async def of_addresses(self, emails: Sequence[str]) -> AsyncIterator[Piece]:
        """The pieces of these addresses: leads that name them, and devices of which nothing else is known."""
        person = Person(emails=frozenset(emails))
        naming: Document = {"$or": [{field: {"$in": list(emails)}} for field in leads.EMAILS]}
        async for page in self._pages(self.database[leads.NAME].find({"org_id": self.org_id} | naming)):
            unclaimed = await self._unclaimed(page, person.emails)
            theirs = replace(person, unclaimed=frozenset(device.id for device in unclaimed))
            naming_them = Naming("_id", [document["_id"] for document in page])
            yield Piece(theirs, devices=unclaimed, records=naming_them)
        yield Piece(person, is_elsewhere=True)

    async def on_devices(self, page: Sequence[Document]) -> Piece:
        """What customers did on browsers that told an address of them."""
        on_devices = frozenset((contact["device_id"], contact["customer_id"]) for contact in page)
        found = await self._devices({device_id for device_id, _ in on_devices})
        return Piece(Person(on_devices=on_devices), devices=found, contacts=page)

    async def of_device(self, device_id: DeviceId) -> AsyncIterator[Piece]:
        """The pieces of a device, whoever used it."""
        person = Person(devices=frozenset([device_id]))
        found = await self._devices([device_id])
        yield Piece(person, found, None if found else Naming("device_id", [device_id]), is_elsewhere=True)
        async for page in self.contacts({"device_id": device_id}):
            yield Piece(person, contacts=page)

    async def contacts(self, condition: Document) -> AsyncIterator[list[Document]]:
        """The contacts that a condition finds."""
        found = self.database[contacts.NAME].find({"org_id": self.org_id} | condition)
        async for page in self._pages(found):
            yield page

    async def _pages(self, found: Cursor) -> AsyncIterator[list[Document]]:
        while page := await found.to_list(self.most):
            yield page

    async def _devices(self, device_ids: Iterable[DeviceId]) -> list[Device]:
        return list((await devices.find_by_ids(self.database, self.org_id, device_ids)).values())

    async def _only_of(self, customer_ids: Sequence[CustomerId], page: Iterable[Document]) -> list[str]:
        """The addresses in these contacts that servers told of these customers, and of nobody else."""
        emails = {email for contact in page for email in contact.get(contacts.EMAILS_BY_SERVERS, ())}
        of_others: Document = {
            "org_id": self.org_id,
            contacts.EMAILS_BY_SERVERS: {"$in": sorted(emails)},
            "customer_id": {"$nin": list(customer_ids)},
        }
        shared = await self.database[contacts.NAME].distinct(contacts.EMAILS_BY_SERVERS, of_others)
        return sorted(emails.difference(shared))

    async def _unclaimed(self, page: Iterable[Document], emails: frozenset[str]) -> list[Device]:
        """Devices of these leads that are nobody's, and whose first lead named one of these addresses."""
        device_ids = {lead["device_id"] for lead in page if lead["device_id"] and not lead["customer_id"]}
        firsts: list[Document] = [
            {"$match": {"org_id": self.org_id, "device_id": {"$in": sorted(device_ids)}, EMAIL: {"$gt": ""}}},
            {"$group": {"_id": "$device_id", "lead": {"$top": {"sortBy": _FIRST, "output": f"${EMAIL}"}}}},
            {"$match": {"lead": {"$in": sorted(emails)}}},
        ]
        theirs = [first["_id"] async for first in self.database[leads.NAME].aggregate(firsts)]
        return [device for device in await self._devices(theirs) if not device.standing]


_FIRST = {"at": 1, "_id": 1}
