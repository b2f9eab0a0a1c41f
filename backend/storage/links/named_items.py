"""Collections of items with names that are unique in an organization, regardless of case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pymongo import IndexModel, ReturnDocument
from pymongo.errors import DuplicateKeyError

from backend.domain.errors import ItemUnknown, TooManyItems
from backend.domain.fields.item_names import NameTaken, name_key
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document, known_fields
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ByField


class NamedItem(Protocol):
    """An item with a name: a dataclass with at least these fields."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def org_id(self) -> OrgId:
        """Whose it is."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def created_at(self) -> datetime:
        """When it was made."""


ItemT = TypeVar("ItemT", bound=NamedItem)


def items_collection(name: str, kind: str) -> Collection:
    """A collection of named items; `kind` is what the audit log calls one.

    Its unique index decides whether a name is taken.
    """
    return Collection(
        name=name,
        indexes=[IndexModel([("org_id", 1), ("key", 1)], unique=True)],
        owned_by=ByField(),
        personal=NotPersonal("the organization made it, and its own people delete it"),
        retention=NoRetention("the organization made it, and its own people delete it"),
        archived=Stage.HISTORY,
        shard_key=NotSharded("an organization has few"),
        audited=Audited(kind=kind, name="name", ignored=frozenset({"key"})),
    )


@dataclass(frozen=True, slots=True)
class NamedItems(Generic[ItemT]):
    """The items of a collection; `kind` is their dataclass. An organization has at most about `most`."""

    collection: str
    kind: type[ItemT]
    most: int

    async def add(self, database: Database, item: ItemT, session: ClientSession | None = None) -> None:
        """Store a new item. Raises NameTaken and TooManyItems."""
        owned = {"org_id": item.org_id}
        count = await database[self.collection].count_documents(owned, limit=self.most, session=session)
        if count >= self.most:
            raise TooManyItems("name", self.most)
        try:
            await database[self.collection].insert_one(self.to_document(item), session=session)
        except DuplicateKeyError:
            raise NameTaken(item.name) from None

    def to_document(self, item: ItemT) -> Document:
        """The item as it is stored."""
        values = {field.name: getattr(item, field.name) for field in fields(self.kind) if field.name != "id"}
        return {"_id": item.id, **values, "key": name_key(item.name)}

    async def all_of(
        self, database: Database, org_id: OrgId, session: ClientSession | None = None
    ) -> list[ItemT]:
        """All items of the organization, by name, in this session or in a snapshot of its own."""
        if session is None:
            # Without a snapshot, an item that is renamed meanwhile could be listed twice or not at all.
            async with await database.client.start_session(snapshot=True) as snapshot:
                return await self.all_of(database, org_id, snapshot)
        cursor = database[self.collection].find({"org_id": org_id}, session=session).sort("key", 1)
        return [self._from(document) async for document in cursor]

    async def find(
        self, database: Database, org_id: OrgId, name: str, session: ClientSession | None = None
    ) -> ItemT:
        """The item with this name, in any case. Raises ItemUnknown."""
        document = await database[self.collection].find_one(_named(org_id, name), session=session)
        return self._required(document, name)

    async def with_ids(
        self, database: Database, org_id: OrgId, ids: list[str], session: ClientSession | None = None
    ) -> list[ItemT]:
        """The organization's items with these ids."""
        query = {"_id": {"$in": ids}, "org_id": org_id}
        cursor = database[self.collection].find(query, session=session)
        return [self._from(document) async for document in cursor]

    async def change(
        self,
        database: Database,
        org_id: OrgId,
        name: str,
        changes: Document,
        cleared: Document | None = None,
        *,
        session: ClientSession | None = None,
    ) -> ItemT:
        """Set the fields `changes` of the item with this name, and remove the fields `cleared`.

        Raises ItemUnknown and NameTaken.
        """
        if "name" in changes:
            changes = changes | {"key": name_key(changes["name"])}
        update = {"$set": changes, "$unset": cleared}
        operators = {operator: values for operator, values in update.items() if values}
        if not operators:
            return await self.find(database, org_id, name, session)
        try:
            document = await database[self.collection].find_one_and_update(
                _named(org_id, name), operators, return_document=ReturnDocument.AFTER, session=session
            )
        except DuplicateKeyError:
            raise NameTaken(changes["name"]) from None
        return self._required(document, name)

    async def delete(
        self, database: Database, org_id: OrgId, name: str, session: ClientSession | None = None
    ) -> ItemT:
        """Delete the item with this name, and return it as it was. Raises ItemUnknown."""
        deleted = await database[self.collection].find_one_and_delete(_named(org_id, name), session=session)
        return self._required(deleted, name)

    def _required(self, document: Document | None, name: str) -> ItemT:
        if document is None:
            raise ItemUnknown(name)
        return self._from(document)

    def _from(self, document: Document) -> ItemT:
        make: Callable[..., ItemT] = self.kind
        return make(id=document["_id"], **known_fields(document, self.kind))


def _named(org_id: OrgId, name: str) -> Document:
    return {"org_id": org_id, "key": name_key(name)}
