"""Finds the documents that facts name."""

from __future__ import annotations

from collections.abc import Iterable

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document


async def find_documents(
    database: Database, session: ClientSession, collection: str, org_id: OrgId, own_ids: Iterable[str]
) -> dict[str, Document]:
    """The organization's documents with these ids, by id. Ids are given without the organization's."""
    ids = [f"{org_id}/{own_id}" for own_id in dict.fromkeys(own_ids)]
    cursor = database[collection].find({"_id": {"$in": ids}}, session=session)
    return {document["_id"].partition("/")[2]: document async for document in cursor}
