"""Leads, sales and events of a person, and those of others that name the person."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from pymongo import UpdateOne

from backend.domain.ids import OrgId
from backend.domain.sales.belongings import EMAIL, DevicePart, is_theirs, part_of, rest_of_record
from backend.domain.sales.records import Record
from backend.domain.visitors.attribution import Device
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.persons import Person
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.driver.page_size import PageSize
from backend.storage.feed.loaders.records import COLLECTIONS
from backend.storage.lifecycle.privacy.personal_changes import note_reread
from backend.storage.sales import conversions, leads
from backend.storage.visitors import devices, records

_NO_PART = DevicePart()
_TOLD_AGAIN = frozenset({leads.NAME, conversions.NAME})


@dataclass(frozen=True, slots=True)
class Naming:
    """Records that name one of these ids in a field, or in that field of a telling that does not count.

    Without those that name one of these e-mail addresses.
    """

    field: str
    ids: Sequence[str]
    but_emails: Sequence[str] = ()

    def condition(self, collection: str) -> Document:
        """The query for such records of a collection. Only leads and sales are told more than once."""
        fields = [self.field]
        if self.field != "_id" and collection in _TOLD_AGAIN:
            fields.append(f"{records.TELLINGS}.{self.field}")
        named: Document = {"$or": [{field: {"$in": list(self.ids)}} for field in fields]}
        return named | ({EMAIL: {"$nin": list(self.but_emails)}} if self.but_emails else {})


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A stored record, with its device as far as that is there."""

    document: Document
    record: Record
    device: Device | None


@dataclass(frozen=True, slots=True)
class PersonalRecords:
    """The records of an organization that name somebody, looked at as the person's or others'."""

    database: Database
    org_id: OrgId
    person: Person
    naming: Naming
    pages: PageSize
    _after: dict[Kind, str] = field(default_factory=dict, init=False)

    async def list_theirs(self) -> AsyncIterator[FoundRecord]:
        """Those that are the person's."""
        for kind in COLLECTIONS:
            while page := await self._read(kind, None):
                self._after[kind] = page[-1].document["_id"]
                for found in page:
                    if is_theirs(self.person, found.record, found.device):
                        yield found

    async def erase(self, days: int | None) -> Counter[str]:
        """Delete those that are the person's, and remove the person's names from the others.

        Returns how many were deleted, by collection. `days` is the organization's retention. Each page of
        records is one transaction, which also has analytics read them again.
        """
        deleted: Counter[str] = Counter()
        for kind, name in COLLECTIONS.items():
            while True:

                async def work(session: ClientSession, kind: Kind = kind) -> tuple[int, str | None]:
                    return await self._erase_page(session, kind, days)

                gone, last = await self.pages.transact(self.database, work)
                deleted[name] += gone
                if last is None:
                    break
                self._after[kind] = last
        return deleted

    async def _erase_page(
        self, session: ClientSession, kind: Kind, days: int | None
    ) -> tuple[int, str | None]:
        """Erase the next page of this kind. Returns how many records it deleted, and its last id."""
        page = await self._read(kind, session)
        theirs = [found for found in page if is_theirs(self.person, found.record, found.device)]
        gone = [found.document["_id"] for found in theirs]
        changes = [change for found in page if found not in theirs and (change := self._rest(found, days))]
        stored = self.database[COLLECTIONS[kind]]
        if gone:
            await stored.delete_many({"_id": {"$in": gone}}, session=session)
        if changes:
            await stored.bulk_write([update for _, update in changes], session=session, ordered=False)
        touched = [*gone, *(own_id for own_id, _ in changes)]
        await note_reread(self.database, session, self.org_id, COLLECTIONS[kind], touched)
        return len(gone), page[-1].document["_id"] if page else None

    def _rest(self, found: FoundRecord, days: int | None) -> tuple[str, UpdateOne] | None:
        part = part_of(self.person, found.device) if found.device else _NO_PART
        rest = rest_of_record(self.person, found.record, part)
        if rest == found.record:
            return None
        return found.document["_id"], records.change(found.record, rest, days)

    async def _read(self, kind: Kind, session: ClientSession | None) -> Sequence[FoundRecord]:
        """The page behind the one that was read last."""
        name = COLLECTIONS[kind]
        pages = {"$and": [self.naming.condition(name), {"_id": {"$gt": self._after.get(kind, "")}}]}
        found = self.database[name].find({"org_id": self.org_id} | pages, session=session)
        documents = await found.sort("_id", 1).limit(self.pages.now).to_list(None)
        page = [(document, records.record_of(kind, document)) for document in documents]
        named = {record.device_id for _, record in page if record.device_id}
        own_devices = await devices.find_by_ids(self.database, self.org_id, named, session)
        return [
            FoundRecord(document, record, own_devices.get(record.device_id) if record.device_id else None)
            for document, record in page
        ]
