"""Documents that an organization makes, changes and deletes by their ids, such as funnels and reports."""

from __future__ import annotations

from dataclasses import dataclass

from pymongo import ReturnDocument

from backend.domain.errors import ItemUnknown, TooManyItems
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document


@dataclass(frozen=True, slots=True)
class OwnDocuments:
    """The documents of a collection, of which an organization has at most about `most`.

    `field` is the one that is said to be one too many, of `things`. Each method raises ItemUnknown where the
    organization has no document with this id.
    """

    collection: str
    most: int
    field: str
    things: str = ""

    async def check_room(self, database: Database, org_id: OrgId) -> None:
        """Raise TooManyItems if the organization may have no more. Two made at one moment may exceed it."""
        owned = {"org_id": org_id}
        if await database[self.collection].count_documents(owned, limit=self.most) >= self.most:
            raise TooManyItems(self.field, self.most, self.things)

    async def get(
        self, database: Database, org_id: OrgId, given_id: str, session: ClientSession | None = None
    ) -> Document:
        """The document with this id."""
        owned = {"_id": given_id, "org_id": org_id}
        return existing(await database[self.collection].find_one(owned, session=session))

    async def change(
        self,
        database: Database,
        org_id: OrgId,
        given_id: str,
        changes: Document,
        session: ClientSession | None = None,
    ) -> Document:
        """Set these fields, if any. Returns the document as it is then."""
        if not changes:
            return await self.get(database, org_id, given_id, session)
        return existing(
            await database[self.collection].find_one_and_update(
                {"_id": given_id, "org_id": org_id},
                {"$set": changes},
                return_document=ReturnDocument.AFTER,
                session=session,
            )
        )

    async def delete(
        self, database: Database, org_id: OrgId, given_id: str, session: ClientSession | None = None
    ) -> Document:
        """Delete the document. Returns it as it was."""
        owned = {"_id": given_id, "org_id": org_id}
        return existing(await database[self.collection].find_one_and_delete(owned, session=session))


def existing(document: Document | None) -> Document:
    """The document that a query was to find. Raises ItemUnknown."""
    if document is None:
        raise ItemUnknown
    return document
