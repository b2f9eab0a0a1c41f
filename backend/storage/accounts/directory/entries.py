"""Entries of the directory, people or groups: how they are read, searched and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pymongo import IndexModel

from backend.domain.accounts.provisioning.groups import ProvisionedGroup
from backend.domain.accounts.provisioning.people import ProvisionedPerson
from backend.domain.accounts.provisioning.search import Condition, ResultPage
from backend.domain.ids import OrgId
from backend.storage.accounts.directory.conditions import to_query
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.own_documents import OwnDocuments

EntryT = TypeVar("EntryT", ProvisionedPerson, ProvisionedGroup)
MADE_ORDER = [("created_at", 1), ("_id", 1)]
ENTRY_INDEXES = (
    IndexModel(
        [("org_id", 1), ("external_id", 1)],
        unique=True,
        partialFilterExpression={"external_id": {"$type": "string"}},
    ),
    IndexModel([("org_id", 1), *MADE_ORDER]),
)


@dataclass(frozen=True, slots=True)
class DirectoryEntries(Generic[EntryT]):
    """The people, or the groups, of all organizations, and the form in which they are stored."""

    own: OwnDocuments
    to_document: Callable[[EntryT], Document]
    from_document: Callable[[Document], EntryT]

    async def get(
        self, database: Database, org_id: OrgId, given_id: str, session: ClientSession | None = None
    ) -> EntryT:
        """The organization's entry with this id. Raises ItemUnknown."""
        return self.from_document(await self.own.get(database, org_id, given_id, session))

    async def search(
        self, database: Database, org_id: OrgId, condition: Condition, page: ResultPage
    ) -> tuple[int, list[EntryT]]:
        """How many of the organization's entries fit, and those of the page."""
        collection = database[self.own.collection]
        query = {"org_id": org_id, **to_query(condition)}
        total = await collection.count_documents(query)
        if page.count == 0 or page.skipped >= total:  # also more than MongoDB can skip
            return total, []
        found = collection.find(query).sort(MADE_ORDER).skip(page.skipped).limit(page.count)
        return total, [self.from_document(document) async for document in found]

    async def insert(self, database: Database, entry: EntryT, session: ClientSession) -> None:
        """Store a new entry. Raises DuplicateKeyError where a unique index refuses it."""
        await database[self.own.collection].insert_one(self.to_document(entry), session=session)

    async def replace(self, database: Database, entry: EntryT, session: ClientSession) -> None:
        """Store an entry in the place of the one with the same id. Raises DuplicateKeyError likewise."""
        owned = {"_id": entry.id, "org_id": entry.org_id}
        await database[self.own.collection].replace_one(owned, self.to_document(entry), session=session)
