"""Reads everything that belongs to an organization, in a fixed order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pymongo.errors import OperationFailure

from backend.domain.errors import OperatorError
from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.lifecycle.collections import ArchivedCollection, archived_collections
from backend.storage.links import links
from backend.storage.schema.ownership import Owned

# The links whose counts one query reads.
_LINKS_PER_QUERY = 200
_SNAPSHOT_TOO_OLD = {239, 246}


class SnapshotTooOld(OperatorError):
    """Reading took so long that the server no longer has the data as it was at the start."""

    def __init__(self) -> None:
        super().__init__(
            "Reading took longer than MongoDB keeps its past (minSnapshotHistoryWindowInSeconds, "
            "300 by default). Raise that, or stop the service and export with --no-snapshot."
        )


@asynccontextmanager
async def snapshot(database: Database, *, is_consistent: bool = True) -> AsyncIterator[ClientSession]:
    """A session in which every read sees the database as it was at the first read. Raises SnapshotTooOld.

    If it is not to be consistent, each read sees the data as it is at the time of the read.
    """
    try:
        async with await database.client.start_session(
            snapshot=is_consistent, causal_consistency=not is_consistent
        ) as session:
            yield session
    except OperationFailure as error:
        if error.code in _SNAPSHOT_TOO_OLD:
            raise SnapshotTooOld from None
        raise


async def count_owned(database: Database, session: ClientSession, org_id: OrgId) -> int:
    """The number of documents that `read_owned` returns."""
    total = 0
    for collection in archived_collections().values():
        async for condition in _conditions(database, session, collection, org_id):
            total += await database[collection.name].count_documents(condition, session=session)
    return total


async def read_owned(
    database: Database, session: ClientSession, org_id: OrgId, *, with_credentials: bool
) -> AsyncIterator[tuple[str, Document]]:
    """All documents of the organization, each with the name of its collection.

    Only with credentials, those of its members are among them. Collections come in the order of
    `archived_collections`. The order is the same in every database.
    """
    for collection in archived_collections().values():
        async for condition in _conditions(database, session, collection, org_id):
            documents = database[collection.name].find(condition, session=session).sort("_id", 1)
            async for document in documents.allow_disk_use(True):
                yield collection.name, collection.part_of(document, org_id, with_credentials=with_credentials)


async def _conditions(
    database: Database, session: ClientSession, archived: ArchivedCollection, org_id: OrgId
) -> AsyncIterator[Document]:
    """Queries that together find all documents of the organization in a collection."""
    if isinstance(archived.owned_by, Owned):
        yield archived.owned_by.condition(org_id)
        return
    async for link_ids in _link_ids(database, session, org_id):
        yield archived.owned_by.condition(link_ids)


async def _link_ids(database: Database, session: ClientSession, org_id: OrgId) -> AsyncIterator[list[LinkId]]:
    group: list[LinkId] = []
    owned = database[links.NAME].find({"org_id": org_id}, {"_id": 1}, session=session)
    async for link in owned.sort("_id", 1).allow_disk_use(True):
        group.append(link["_id"])
        if len(group) == _LINKS_PER_QUERY:
            yield group
            group = []
    if group:
        yield group
