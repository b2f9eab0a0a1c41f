"""Loads an organization's facts for the first time, by reading all that MongoDB has of it.

What is stored while it loads is in the feed behind the place that is noted at the beginning. It may be read
twice, which changes nothing. A load that was interrupted goes on where it was: what has changed since then is
in the feed, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from datetime import timedelta
from functools import partial
from typing import NamedTuple, TypeAlias

from duckdb import DuckDBPyConnection

from backend.domain.feed.cursor import Cursor
from backend.domain.ids import OrgId
from backend.domain.visitors.calls import Kind
from backend.storage.apps import installs
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.blocks import mark_unreadable
from backend.storage.clicks.summaries import StoredSummary, load_summaries
from backend.storage.columns.rows import clicks as click_rows
from backend.storage.columns.rows import costs as cost_rows
from backend.storage.columns.rows import devices as device_rows
from backend.storage.columns.rows import installs as install_rows
from backend.storage.columns.rows import link_changes as change_rows
from backend.storage.columns.rows import links as link_rows
from backend.storage.columns.rows import records as record_rows
from backend.storage.columns.rows.clicks import count_clicks, insert_blocks
from backend.storage.columns.rows.summaries import insert_summary, number_links_of
from backend.storage.columns.tables.forgetting import forget_all
from backend.storage.columns.tables.pieces import read_in_pieces
from backend.storage.columns.tables.staged import EPOCH
from backend.storage.columns.tables.state import (
    State,
    note_all_loaded,
    note_clicks,
    note_cursor,
    note_loaded,
    read_state,
)
from backend.storage.columns.tables.transactions import to_its_end, transaction
from backend.storage.columns.tables.written_columns import WrittenColumns
from backend.storage.costs import costs
from backend.storage.driver.mongo import Cursor as MongoCursor
from backend.storage.driver.mongo import Database, Document, size_of
from backend.storage.links import links, tags
from backend.storage.outbox import entries
from backend.storage.outbox.marks import end_of_feed
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.visitors import devices

Write: TypeAlias = Callable[[DuckDBPyConnection, Sequence[Document]], None]
# What one transaction adds of documents.
_DOCUMENTS_PER_TRANSACTION = 2_000
_BYTES_PER_TRANSACTION = 8_000_000
# Documents per answer of MongoDB. Its own batches of 16 MB take 100 MB as objects of Python.
_DOCUMENTS_PER_BATCH = 1_000
_BLOCKS_PER_BATCH = 100


class _Source(NamedTuple):
    """A collection, what is read of its documents, in which order, and how that becomes rows.

    `clear` deletes the rows before they are written again, unless `write` puts each where it is already.
    """

    collection: str
    fields: Document
    order: list[tuple[str, int]]
    write: Write
    clear: Callable[[DuckDBPyConnection], None] = lambda connection: None

    def find(self, database: Database, org_id: OrgId) -> MongoCursor:
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


def _entries_of_links(database: Database, org_id: OrgId, end: int) -> MongoCursor:
    """The entries of the organization's feed before this place that have facts about links."""
    query = {"org_id": org_id, "place": {"$gt": 0, "$lt": end}, "facts.link": {"$exists": True}}
    found = database[entries.NAME].find(query, change_rows.FIELDS, batch_size=_DOCUMENTS_PER_BATCH)
    return found.sort("place", 1)


def _emptying(*tables: str) -> Callable[[DuckDBPyConnection], None]:
    def empty(connection: DuckDBPyConnection) -> None:
        for table in tables:
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - a constant

    return empty


def _insert_records(kind: Kind) -> Write:
    return lambda connection, documents: record_rows.insert_records(connection, kind, documents)


_BY_ID = [("_id", 1)]
_BY_TIME = [("at", 1)]
# The order of each is by a field that never changes, or, as of records, only with a fact that is in the feed.
_SOURCES = (
    _Source(tags.NAME, {"name": 1}, [("key", 1)], _put_tags),
    _Source(costs.NAME, {}, [("day", -1)], cost_rows.insert_costs),
    _Source(links.NAME, link_rows.FIELDS, links.NEWEST_FIRST, link_rows.put_links),
    _Source(
        devices.NAME,
        device_rows.FIELDS,
        _BY_ID,
        device_rows.insert_devices,
        _emptying("devices", "visits", "identities"),
    ),
    *(
        _Source(
            name,
            record_rows.FIELDS,
            _BY_TIME,
            _insert_records(kind),
            partial(record_rows.delete_kind, kind=kind),
        )
        for name, kind in record_rows.KINDS.items()
    ),
    _Source(
        installs.NAME, install_rows.FIELDS, _BY_TIME, install_rows.insert_installs, _emptying("installs")
    ),
)


async def load(
    database: Database,
    org_id: OrgId,
    columns: WrittenColumns,
    on_progress: Callable[[int], None] = lambda clicks: None,
    *,
    share: float = 1.0,
) -> list[str]:
    """Load all facts of the organization, in many transactions with this `share` of what one usually adds.

    It goes on where a load was interrupted. Otherwise what is there already is deleted first. `on_progress`
    gets the number of clicks that are there. Returns the ids of blocks of clicks that can't be read: they are
    marked, and left out. If it is interrupted, nothing says that all is there.
    """
    connection = columns.connection
    state = await to_its_end(partial(read_state, connection))
    if state.is_loaded or not state.is_begun:
        end = await end_of_feed(database, org_id)
        await to_its_end(partial(_begin, columns, end))
        state = State(end, is_loaded=False, done=0, clicks_until=None)
    elif state.done < len(_SOURCES):
        await to_its_end(partial(_SOURCES[state.done].clear, connection))
    for number, source in enumerate(_SOURCES):
        if number >= state.done:
            await _load(source.find(database, org_id), connection, source.write, share)
            await to_its_end(partial(note_loaded, connection, number + 1))
    await _load(_entries_of_links(database, org_id, state.cursor.place), connection, _put_link_changes, share)
    await _load_summaries(database, org_id, columns)
    unreadable = await _load_clicks(database, org_id, columns, state, on_progress, share=share)
    await to_its_end(partial(note_all_loaded, connection))
    return unreadable


def _begin(columns: WrittenColumns, end: Cursor) -> None:
    forget_all(columns)
    note_cursor(columns.connection, end)


async def _load(cursor: MongoCursor, connection: DuckDBPyConnection, write: Write, share: float) -> None:
    async for documents in read_in_pieces(cursor, _weight_of, share):
        await to_its_end(partial(_in_transaction, connection, partial(write, connection, documents)))


def _weight_of(document: Document) -> float:
    return max(1 / _DOCUMENTS_PER_TRANSACTION, size_of(document) / _BYTES_PER_TRANSACTION)


def _in_transaction(connection: DuckDBPyConnection, work: Callable[[], None]) -> None:
    with transaction(connection):
        work()


async def _load_summaries(database: Database, org_id: OrgId, columns: WrittenColumns) -> None:
    async with aclosing(load_summaries(database, org_id)) as summaries:
        async for summary in summaries:
            await to_its_end(partial(_insert_summary, columns, summary))


def _insert_summary(columns: WrittenColumns, summary: StoredSummary) -> None:
    number_links_of(columns.connection, summary)
    catalog = columns.clicks_of(summary.day)
    with transaction(columns.connection):
        insert_summary(columns.connection, catalog, summary)


async def _load_clicks(
    database: Database,
    org_id: OrgId,
    columns: WrittenColumns,
    state: State,
    on_progress: Callable[[int], None],
    *,
    share: float,
) -> list[str]:
    query: Document = {"org_id": org_id}
    clicks = 0
    if state.clicks_until is not None:
        query["last_at"] = {"$gte": EPOCH + timedelta(milliseconds=state.clicks_until)}
        clicks = await to_its_end(partial(count_clicks, columns.connection))
        on_progress(clicks)
    found = database[click_blocks.NAME].find(query, click_rows.FIELDS, batch_size=_BLOCKS_PER_BATCH)
    unreadable: list[str] = []
    async for blocks in read_in_pieces(found.sort("last_at", 1), click_rows.weight_of, share):
        odd = await to_its_end(partial(insert_blocks, columns, blocks))
        await to_its_end(partial(note_clicks, columns.connection, blocks[-1]["last_at"]))
        if odd:
            await mark_unreadable(database, odd)
        unreadable += odd
        clicks += sum(block["clicks"] for block in blocks)
        on_progress(clicks)
    return unreadable
