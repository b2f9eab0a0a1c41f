"""What organizations have of a resource: adds, lists, gets, changes and deletes it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Generic

from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId, OrgId
from backend.domain.resources.resource import FilterOperator, Resource, ThingT
from backend.domain.resources.resource_field import MadeBy, Referent
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.links.links import find_link
from backend.storage.schema.own_documents import OwnDocuments

_OPERATORS = {FilterOperator.EQUALS: "$eq", FilterOperator.FROM: "$gte", FilterOperator.BEFORE: "$lt"}
_NO_FILTERS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Things(Generic[ThingT]):
    """What organizations have of a resource. Values are parsed by the rules of its fields."""

    resource: Resource[ThingT]

    async def add(
        self,
        database: Database,
        org_id: OrgId,
        told: Mapping[str, Any],
        now: datetime,
        made_by: MadeBy = MadeBy.PERSON,
    ) -> ThingT:
        """Store a new one. Raises TooManyItems, and InvalidField for an id of another organization's."""
        await self._check_referents(database, org_id, told)
        await self._documents.check_room(database, org_id)
        told = self.resource.completed(told, None) if self.resource.completed else told
        values = self.resource.new_values(told, now, made_by)
        document = {"_id": str(uuid.uuid4()), "org_id": org_id, **self.resource.stored_values(values)}
        await database[self.resource.collection].insert_one(document)
        return self._from(document)

    async def list(
        self, database: Database, org_id: OrgId, filters: Mapping[str, Any] = _NO_FILTERS
    ) -> list[ThingT]:
        """Those of the organization that pass these filters, which are parsed, in the resource's order."""
        query: Document = {"org_id": org_id}
        for name, wanted in filters.items():
            own = self.resource.filters[name]
            query.setdefault(own.field, {})[_OPERATORS[own.operator]] = wanted
        order = [*((name, 1) for name in self.resource.order), ("_id", 1)]
        cursor = database[self.resource.collection].find(query).sort(order)
        return [self._from(document) async for document in cursor]

    async def get(self, database: Database, org_id: OrgId, given_id: str) -> ThingT:
        """The one with this id. Raises ItemUnknown."""
        return self._from(await self._documents.get(database, org_id, given_id))

    async def change(
        self, database: Database, org_id: OrgId, given_id: str, changes: Mapping[str, Any]
    ) -> ThingT:
        """Change these fields, if any. Returns it as it is then.

        Raises ItemUnknown, and InvalidField for an id of another organization's.
        """
        await self._check_referents(database, org_id, changes)
        if changes and (completed := self.resource.completed):

            async def work(session: ClientSession) -> ThingT:
                before = self._from(await self._documents.get(database, org_id, given_id, session))
                return await self._set(database, org_id, given_id, completed(changes, before), session)

            return await in_transaction(database, work)  # nothing that others change meanwhile is set back
        return await self._set(database, org_id, given_id, changes)

    async def delete(self, database: Database, org_id: OrgId, given_id: str) -> ThingT:
        """Delete it. Returns it as it was. Raises ItemUnknown."""
        return self._from(await self._documents.delete(database, org_id, given_id))

    async def delete_with_link(self, database: Database, org_id: OrgId, link_id: LinkId) -> None:
        """Delete those that go along with a link that is deleted for good."""
        for name, own in self.resource.fields.items():
            if own.refers_to is Referent.LINK and own.goes_along:
                await database[self.resource.collection].delete_many({"org_id": org_id, name: link_id})

    async def _check_referents(self, database: Database, org_id: OrgId, values: Mapping[str, Any]) -> None:
        for name, own in self.resource.fields.items():
            given = values.get(name) if own.refers_to is Referent.LINK else None
            if given is not None and await find_link(database, LinkId(given), org_id) is None:
                raise InvalidField(name, "must be a link of your organization")

    async def _set(
        self,
        database: Database,
        org_id: OrgId,
        given_id: str,
        values: Mapping[str, Any],
        session: ClientSession | None = None,
    ) -> ThingT:
        stored = self.resource.stored_values(values)
        return self._from(await self._documents.change(database, org_id, given_id, stored, session))

    @property
    def _documents(self) -> OwnDocuments:
        resource = self.resource
        return OwnDocuments(resource.collection, resource.most, resource.too_many_at, resource.several)

    def _from(self, document: Document) -> ThingT:
        return self.resource.from_stored(document["_id"], OrgId(document["org_id"]), document)
