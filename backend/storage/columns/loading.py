"""Loads an organization's facts for the first time, by reading all that MongoDB has of it.

What is stored while it loads is in the feed behind the place that is noted at the beginning. It may be read
twice, which changes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import NamedTuple, TypeAlias

from duckdb import DuckDBPyConnection

from backend.domain.ids import OrgId
from backend.domain.visitors.calls import Kind
from backend.storage.apps import installs
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.summaries import load_summaries
from backend.storage.columns.rows import clicks as click_rows
from backend.storage.columns.rows import costs as cost_rows
from backend.storage.columns.rows import devices as device_rows
from backend.storage.columns.rows import installs as install_rows
from backend.storage.columns.rows import link_changes as change_rows
from backend.storage.columns.rows import links as link_rows
from backend.storage.columns.rows import records as record_rows
from backend.storage.columns.rows.clicks import StagedClicks
from backend.storage.columns.rows.summaries import insert_summaries
from backend.storage.columns.tables.forgetting import forget_all
from backend.storage.columns.tables.transactions import to_its_end, transaction
from backend.storage.costs import costs
from backend.storage.driver.mongo import Cursor, Database, Document
from backend.storage.links import links, tags
from backend.storage.outbox import entries
from backend.storage.outbox.heads import find_heads
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.visitors import devices

Write: TypeAlias = Callable[[DuckDBPyConnection, Sequence[Document]], None]
# What one transaction adds: with fewer clicks loading takes longer, with more it takes 30 MB more.
_DOCUMENTS_PER_TRANSACTION = 2_000
_CLICKS_PER_TRANSACTION = 92_160
_BLOCKS_PER_TRANSACTION = 2_000
# Documents per answer of MongoDB. Its own batches of 16 MB take 100 MB as objects of Python.
_DOCUMENTS_PER_BATCH = 1_000
_BLOCKS_PER_BATCH = 100


class _Source(NamedTuple):
    """A collection, what is read of its documents, in which order, and how that becomes rows."""

    collection: str
    fields: Document
    order: list[tuple[str, int]]
    write: Write

    def find(self, database: Database, org_id: OrgId) -> Cursor:
        """The organization's documents."""
        is_by_id = self.order == _BY_ID
        of_organization = ByIdPrefix().condition(org_id) if is_by_id else {"org_id": org_id}
        documents = database[self.collection].find(
            of_organization, self.fields, batch_size=_DOCUMENTS_PER_BATCH
        )
        return documents.sort(self.order)


def _put_tags(connection: DuckDBPyConnection, documents: Sequence[Document]) -> None:
    link_rows.put_tags(connection, {tag["_id"]: tag["name"] for tag in documents})


def _put_link_changes(connection: DuckDBPyConnection, documents: Sequence[Document]) -> None:
    change_rows.put_link_changes(connection, [(entry["place"], entry["facts"]) for entry in documents])


def _entries_of_links(database: Database, org_id: OrgId, end: int) -> Cursor:
    """The entries of the organization's feed before this place that have facts about links."""
    query = {"org_id": org_id, "place": {"$gt": 0, "$lt": end}, "facts.link": {"$exists": True}}
    found = database[entries.NAME].find(query, change_rows.FIELDS, batch_size=_DOCUMENTS_PER_BATCH)
    return found.sort("place", 1)


def _insert_records(kind: Kind) -> Write:
    return lambda connection, documents: record_rows.insert_records(connection, kind, documents)


_BY_ID = [("_id", 1)]
_BY_TIME = [("at", 1)]
# The order of each is by a field that never changes, or, as of records, only with a fact that is in the feed.
_SOURCES = (
    _Source(tags.NAME, {"name": 1}, [("key", 1)], _put_tags),
    _Source(costs.NAME, {}, [("day", -1)], cost_rows.insert_costs),
    _Source(links.NAME, link_rows.FIELDS, links.NEWEST_FIRST, link_rows.put_links),
    _Source(devices.NAME, device_rows.FIELDS, _BY_ID, device_rows.insert_devices),
    *(
        _Source(name, record_rows.FIELDS, _BY_TIME, _insert_records(kind))
        for name, kind in record_rows.KINDS.items()
    ),
    _Source(installs.NAME, install_rows.FIELDS, _BY_TIME, install_rows.insert_installs),
)


async def load(
    database: Database,
    org_id: OrgId,
    connection: DuckDBPyConnection,
    on_progress: Callable[[int], None] = lambda clicks: None,
) -> list[str]:
    """Load all facts of the organization, in many transactions. What is there already is deleted first.

    `on_progress` gets the number of clicks that are there. Returns the ids of blocks of clicks that can't be
    read, and are left out. If it is interrupted, nothing says that all is there, and it has to be done again.
    """
    place = (await find_heads(database, [org_id]))[org_id] + 1
    await to_its_end(partial(forget_all, connection))
    for source in _SOURCES:
        await _load(source.find(database, org_id), connection, source.write)
    await _load(_entries_of_links(database, org_id, place), connection, _put_link_changes)
    await _load_summaries(database, org_id, connection)
    unreadable = await _load_clicks(database, org_id, connection, on_progress)
    done = "UPDATE state SET place = $place, is_loaded = true"
    await to_its_end(lambda: connection.execute(done, {"place": place}))
    return unreadable


async def _load(cursor: Cursor, connection: DuckDBPyConnection, write: Write) -> None:
    while documents := await cursor.to_list(_DOCUMENTS_PER_TRANSACTION):
        await to_its_end(partial(_in_transaction, connection, partial(write, connection, documents)))


def _in_transaction(connection: DuckDBPyConnection, work: Callable[[], None]) -> None:
    with transaction(connection):
        work()


async def _load_summaries(database: Database, org_id: OrgId, connection: DuckDBPyConnection) -> None:
    async with aclosing(load_summaries(database, org_id)) as summaries:
        async for summary in summaries:
            work = partial(insert_summaries, connection, [summary])
            await to_its_end(partial(_in_transaction, connection, work))


async def _load_clicks(
    database: Database, org_id: OrgId, connection: DuckDBPyConnection, on_progress: Callable[[int], None]
) -> list[str]:
    cursor = database[click_blocks.NAME].find({"org_id": org_id}, click_rows.FIELDS).sort("last_at", 1)
    unreadable: list[str] = []
    clicks = 0
    async for blocks in _batches(cursor):
        unreadable += await to_its_end(partial(_insert_blocks, connection, blocks))
        clicks += sum(block["clicks"] for block in blocks)
        on_progress(clicks)
    return unreadable


async def _batches(cursor: Cursor) -> AsyncIterator[list[Document]]:
    """The blocks in lists of about as many clicks as one transaction adds."""
    batch: list[Document] = []
    clicks = 0
    async for block in cursor.batch_size(_BLOCKS_PER_BATCH):
        batch.append(block)
        clicks += block["clicks"]
        if clicks >= _CLICKS_PER_TRANSACTION or len(batch) == _BLOCKS_PER_TRANSACTION:
            yield batch
            batch, clicks = [], 0
    if batch:
        yield batch


def _insert_blocks(connection: DuckDBPyConnection, blocks: Sequence[Document]) -> list[str]:
    staged = StagedClicks(connection, blocks)
    with transaction(connection):
        staged.insert()
    return staged.unreadable
