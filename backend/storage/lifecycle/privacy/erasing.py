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
from backend.storage.accounts.organizations import find_retention_days
from backend.storage.apps import installs
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction, server_time
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
    database: Database, org_id: OrgId, piece: Piece, tell: Tell, most: int
) -> tuple[Counter[str], bool]:
    """Erase a piece. Returns the number of deleted documents by collection, and whether anything was there.

    No transaction changes more than `most` documents of a collection.
    """
    installs_of_devices = await installs.find_installs_of(database, org_id, piece.whole_devices)
    erasing = _Erasing(database, org_id, piece, [*piece.installs, *installs_of_devices], most)
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
    most: int

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
        person, most = self.piece.person, self.most
        if self._parts:
            # Leads that name an address come later: they show whose a device is that is no customer's.
            deleted += await self._erase_records(
                Naming("device_id", list(self._parts), but_emails=sorted(person.emails))
            )
        for fact in self._facts():
            await empty_facts(self.database, self.org_id, fact, most)
        for name, condition in self._elsewhere():
            deleted[name] += await delete_all(self.database, self.org_id, name, condition, most)
        deleted += await self._erase_devices()
        if self.piece.records:
            deleted += await self._erase_records(self.piece.records)
        if self.piece.is_elsewhere and person.emails:
            forget = contacts.without_emails(person.emails)
            await self.database[contacts.NAME].update_many(self._claimed(), forget)
        for device_id, customer_id in person.on_devices:
            pair: Document = {"device_id": device_id, "customer_id": customer_id}
            await empty_facts(self.database, self.org_id, pair, most, only="customer_id")
        ids = [contact["_id"] for contact in self.piece.contacts]
        gone = await delete_all(self.database, self.org_id, contacts.NAME, {"_id": {"$in": ids}}, most)
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
        found = PersonalRecords(self.database, self.org_id, self.piece.person, naming, self.most)
        return await found.erase(days)

    async def _erase_devices(self) -> Counter[str]:
        """Delete the devices that are the person's alone, and remove the person from the others.

        A device of which somebody tells meanwhile whose it is, stays for the next try.
        """

        async def work(session: ClientSession) -> Counter[str]:
            person = self.piece.person
            stored = await devices.find_by_ids(self.database, self.org_id, self._parts, session)
            seen = [device for device in self.piece.devices if device.id in stored]
            same = [stored[device.id] for device in seen if stored[device.id].customers == device.customers]
            whole = [device.id for device in same if self._parts[device.id].is_whole]
            rest = [
                rest_of_device(person, device, self._parts[device.id])
                for device in same
                if not self._parts[device.id].is_whole
            ]
            for device in rest:
                await devices.set_history(self.database, session, device)
            changed = [devices.own_id(self.org_id, device.id) for device in rest]
            await note_reread(self.database, session, self.org_id, devices.NAME, changed)
            shared = sum(bool(self._parts[device.id].times) for device in rest)
            return await self._delete_devices(session, whole) + Counter({SHARED_DEVICES: shared})

        return await in_transaction(self.database, work) if self._parts else Counter()

    async def _delete_devices(self, session: ClientSession, whole: Sequence[DeviceId]) -> Counter[str]:
        """Delete these devices, and what was told of others on them."""
        ids = [devices.own_id(self.org_id, device_id) for device_id in whole]
        await note_reread(self.database, session, self.org_id, devices.NAME, ids)
        others = {
            "device_id": {"$in": list(whole)},
            "customer_id": {"$nin": sorted(self.piece.person.customers)},
        }
        of_others = {"org_id": self.org_id} | others
        gone = await self.database[contacts.NAME].delete_many(of_others, session=session)
        deleted = await self.database[devices.NAME].delete_many({"_id": {"$in": ids}}, session=session)
        return Counter({devices.NAME: deleted.deleted_count, contacts.NAME: gone.deleted_count})
