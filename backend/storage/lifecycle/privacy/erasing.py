"""Erases a piece of what belongs to a person. After a kill at any point, the next try finds what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from backend.domain.feed.facts import Fact, erased_fact
from backend.domain.ids import DeviceId, InstallId, OrgId
from backend.domain.sales.belongings import DevicePart, part_of, rest_of_device
from backend.domain.visitors.attribution import Device
from backend.storage.accounts.organizations import find_retention_days
from backend.storage.apps import installs
from backend.storage.driver.mongo import ClientSession, Database, Document, server_time
from backend.storage.driver.page_size import PageSize
from backend.storage.feed.loaders.records import COLLECTIONS
from backend.storage.lifecycle.privacy.belongings import Piece, elsewhere
from backend.storage.lifecycle.privacy.personal_changes import (
    delete_all,
    empty_facts,
    facts_like,
    note_reread,
)
from backend.storage.lifecycle.privacy.personal_records import Naming, PersonalRecords
from backend.storage.outbox import entries
from backend.storage.visitors import contacts, devices

# Under this name, devices are counted that are kept for other persons.
SHARED_DEVICES = "shared_devices"
# Tells readers of the feed whom they have to erase. That comes before anything is deleted.
Tell = Callable[[Fact], Awaitable[None]]


async def erase_piece(
    database: Database, org_id: OrgId, piece: Piece, tell: Tell, pages: PageSize
) -> tuple[Counter[str], bool]:
    """Erase a piece. Returns the number of deleted documents by collection, and whether anything was there.

    No transaction changes more documents of a collection than a page has.
    """
    installs_of_devices = await installs.find_installs_of(database, org_id, piece.whole_devices)
    erasing = _Erasing(database, org_id, piece, [*piece.installs, *installs_of_devices], pages)
    if not await erasing.is_there():
        return Counter(), False
    await tell(await erasing.fact())
    return await erasing.erase(), True


@dataclass(frozen=True)
class _Erasing:
    database: Database
    org_id: OrgId
    piece: Piece
    installs: Sequence[InstallId]
    pages: PageSize

    @cached_property
    def _parts(self) -> Mapping[DeviceId, DevicePart]:
        return {device.id: part_of(self.piece.person, device) for device in self.piece.devices}

    async def is_there(self) -> bool:
        """Whether the piece has anything."""
        if self.piece.devices or self.piece.contacts:
            return True
        conditions = [
            *self._elsewhere(),
            *((entries.NAME, facts_like(self.org_id, fact)) for fact in self._facts()),
        ]
        if self.piece.is_elsewhere and self.piece.person.emails:
            conditions.append((contacts.NAME, self._claimed()))
        if naming := self.piece.records:
            of_org = {"org_id": self.org_id}
            conditions += [(name, of_org | naming.condition(name)) for name in COLLECTIONS.values()]
        for name, condition in conditions:
            if await self.database[name].find_one(condition, {"_id": 1}):
                return True
        return False

    async def fact(self) -> Fact:
        """What the feed tells of the erasure of this piece."""
        shared = [
            {"device_id": own_id, "times": [{"from": begin, "to": end} for begin, end in part.times]}
            for own_id, part in self._parts.items()
            if part.times and not part.is_whole
        ]
        theirs: dict[str, Sequence[Any]] = {
            "devices": self.piece.whole_devices,
            "shared_devices": shared,
            "installs": self.installs,
        }
        return erased_fact(self.piece.person, theirs, await server_time(self.database))

    async def erase(self) -> Counter[str]:
        """Erase it: last what shows that the rest is the person's."""
        deleted: Counter[str] = Counter()
        person, pages = self.piece.person, self.pages
        if self._parts:
            # Leads that name an address come later: they show whose a device is that is no customer's.
            deleted += await self._erase_records(
                Naming("device_id", list(self._parts), but_emails=sorted(person.emails))
            )
        for fact in self._facts():
            await empty_facts(self.database, self.org_id, fact, pages)
        for name, condition in self._elsewhere():
            deleted[name] += await delete_all(self.database, self.org_id, name, condition, pages)
        deleted += await self._erase_devices()
        if self.piece.records:
            deleted += await self._erase_records(self.piece.records)
        if self.piece.is_elsewhere and person.emails:
            forget = contacts.without_emails(person.emails)
            await self.database[contacts.NAME].update_many(self._claimed(), forget)
        for device_id, customer_id in person.on_devices:
            pair: Document = {"device_id": device_id, "customer_id": customer_id}
            await empty_facts(self.database, self.org_id, pair, pages, only="customer_id")
        ids = [contact["_id"] for contact in self.piece.contacts]
        gone = await delete_all(self.database, self.org_id, contacts.NAME, {"_id": {"$in": ids}}, pages)
        return deleted + Counter({contacts.NAME: gone})

    def _elsewhere(self) -> list[tuple[str, Document]]:
        person = self.piece.person
        if self.piece.is_elsewhere:
            return elsewhere(self.org_id, person, self.installs)
        return elsewhere(self.org_id, type(person)(), self.installs) if self.installs else []

    def _claimed(self) -> Document:
        """The query for contacts of others, of whom browsers told an address of the person."""
        person = self.piece.person
        return contacts.naming_emails(self.org_id, person.emails, but_of=person.customers)

    def _facts(self) -> list[Document]:
        """What facts of the feed name the person by."""
        customers = self.piece.person.customers if self.piece.is_elsewhere else ()
        named: dict[str, Iterable[str]] = {
            "customer_id": customers,
            "device_id": self.piece.whole_devices,
            "install_id": self.installs,
        }
        return [{field: {"$in": sorted(ids)}} for field, ids in named.items() if ids]

    async def _erase_records(self, naming: Naming) -> Counter[str]:
        days = (await find_retention_days(self.database, [self.org_id])).get(self.org_id)
        found = PersonalRecords(self.database, self.org_id, self.piece.person, naming, self.pages)
        return await found.erase(days)

    async def _erase_devices(self) -> Counter[str]:
        """Delete the devices that are the person's alone, and remove the person from the others.

        A device of which somebody tells meanwhile whose it is, stays for the next try.
        """
        left, deleted = list(self.piece.devices), Counter[str]()

        async def work(session: ClientSession) -> tuple[Counter[str], int]:
            return await self._erase_page(session, left[: self.pages.now])

        while left:
            of_page, done = await self.pages.transact(self.database, work)
            deleted += of_page
            del left[:done]
        return deleted

    async def _erase_page(self, session: ClientSession, page: Sequence[Device]) -> tuple[Counter[str], int]:
        """Do so for some of the devices. Returns what was deleted, and with how many devices it is done.

        That is none of them while more contacts are left of others on them than a page has.
        """
        stored = await devices.find_by_ids(
            self.database, self.org_id, [device.id for device in page], session
        )
        seen = [device for device in page if device.id in stored]
        same = [stored[device.id] for device in seen if stored[device.id].customers == device.customers]
        whole = [device.id for device in same if self._parts[device.id].is_whole]
        contacts_of_others = await self._delete_contacts_of_others(session, whole)
        deleted = Counter({contacts.NAME: contacts_of_others})
        if contacts_of_others == self.pages.now:
            # So that nobody tells whose they are meanwhile: this would be stored without these contacts.
            await devices.touch(self.database, session, self.org_id, whole)
            return deleted, 0
        deleted[devices.NAME] = await self._delete_devices(session, whole)
        deleted[SHARED_DEVICES] = await self._set_rest(
            session, [device for device in same if device.id not in whole]
        )
        return deleted, len(page)

    async def _set_rest(self, session: ClientSession, shared: Sequence[Device]) -> int:
        """Remove the person from these devices. Returns how many of them had anything of the person."""
        for device in shared:
            rest = rest_of_device(self.piece.person, device, self._parts[device.id])
            await devices.set_history(self.database, session, rest)
        changed = [devices.own_id(self.org_id, device.id) for device in shared]
        await note_reread(self.database, session, self.org_id, devices.NAME, changed)
        return sum(bool(self._parts[device.id].times) for device in shared)

    async def _delete_contacts_of_others(self, session: ClientSession, whole: Sequence[DeviceId]) -> int:
        """Delete what was told of others on these devices, at most a page of it. Returns how much."""
        of_others = {
            "org_id": self.org_id,
            "device_id": {"$in": list(whole)},
            "customer_id": {"$nin": sorted(self.piece.person.customers)},
        }
        found = self.database[contacts.NAME].find(of_others, {"_id": 1}, session=session)
        ids = [contact["_id"] async for contact in found.limit(self.pages.now)]
        own = {"org_id": self.org_id, "_id": {"$in": ids}}
        return (await self.database[contacts.NAME].delete_many(own, session=session)).deleted_count

    async def _delete_devices(self, session: ClientSession, whole: Sequence[DeviceId]) -> int:
        """Delete these devices. Returns how many there were."""
        ids = [devices.own_id(self.org_id, device_id) for device_id in whole]
        await note_reread(self.database, session, self.org_id, devices.NAME, ids)
        own = {"_id": {"$in": ids}, "org_id": self.org_id}
        return (await self.database[devices.NAME].delete_many(own, session=session)).deleted_count
