"""Applies a part of an organization's feed to its tables.

A document that a fact names replaces its rows, whether they are there or not. Clicks count once, by the ids
of their blocks. So the same part may be applied several times, also if some of it is there already, as after
an interruption between the transactions that it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.facts import COST, REREAD, SUMMARY, TAG, Fact
from backend.domain.ids import CallId, DeviceId, InstallId, OrgId
from backend.storage.apps import installs
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.summaries import documents_named
from backend.storage.columns.rows.clicks import insert_blocks, weight_of
from backend.storage.columns.rows.costs import put_costs
from backend.storage.columns.rows.devices import delete_devices, insert_devices, see_devices
from backend.storage.columns.rows.installs import delete_installs, insert_installs
from backend.storage.columns.rows.link_changes import forget_link_changes, put_link_changes
from backend.storage.columns.rows.links import forget_links, put_links, put_tags
from backend.storage.columns.rows.records import KINDS, delete_records, insert_records
from backend.storage.columns.rows.rereading import find_again, find_last_seen
from backend.storage.columns.rows.summaries import delete_blocks, insert_summary, number_links_of
from backend.storage.columns.tables.forgetting import note_forgotten
from backend.storage.columns.tables.pieces import in_pieces
from backend.storage.columns.tables.state import note_cursor
from backend.storage.columns.tables.transactions import long_transaction, to_its_end, transaction
from backend.storage.columns.tables.written_columns import WrittenColumns
from backend.storage.driver.mongo import Database, Document
from backend.storage.feed.packed import Name, PackedPage, name_of
from backend.storage.visitors import devices


async def apply(
    database: Database, org_id: OrgId, columns: WrittenColumns, page: PackedPage, share: float = 1.0
) -> list[str]:
    """Apply a page of the feed. The place behind it is written in the last of several transactions.

    What is much goes in pieces, each with this `share` of what one usually has. Returns the ids of blocks of
    clicks that can't be read, and are left out.
    """
    facts = [fact for entry in page.entries for fact in entry.facts]
    named = {name: page.named.get(name) for name in map(name_of, facts) if name}
    named |= await find_again(database, org_id, facts)
    seen = await find_last_seen(database, org_id, facts, named)
    by_place = [(entry.cursor.place - 1, entry.facts) for entry in page.entries]
    read = _Read(by_place, facts, named, seen)
    blocks = {
        block["_id"]: block for block in _there(named, click_blocks.NAME)
    }  # a merged one has many names
    unreadable: list[str] = []
    for piece in in_pieces(blocks.values(), weight_of, share):
        unreadable += await to_its_end(partial(insert_blocks, columns, piece))
    for fact in facts:
        if fact["type"] == SUMMARY:
            await _put_summaries(database, org_id, columns, fact)
    await to_its_end(partial(_apply, columns, read, page.next_cursor))
    return unreadable


class _Read(NamedTuple):
    """What was read of a page: its facts, and the documents that they name."""

    by_place: Sequence[tuple[int, Sequence[Fact]]]
    facts: Sequence[Fact]
    named: Mapping[Name, Document | None]
    seen: Mapping[DeviceId, datetime]


async def _put_summaries(database: Database, org_id: OrgId, columns: WrittenColumns, fact: Fact) -> None:
    """Put what a day was added up to in the place of its blocks.

    One summary after the other: each has up to 50,000 rows.
    """
    connection, catalog = columns.connection, await to_its_end(partial(columns.clicks_of, fact["day"]))
    async with aclosing(documents_named(database, org_id, fact["summaries"])) as summaries:
        async for summary in summaries:
            await to_its_end(partial(number_links_of, connection, summary))
    async with long_transaction(connection):
        await to_its_end(partial(delete_blocks, connection, catalog, fact["blocks"]))
        async with aclosing(documents_named(database, org_id, fact["summaries"])) as summaries:
            async for summary in summaries:
                await to_its_end(partial(insert_summary, connection, catalog, summary))


def _apply(columns: WrittenColumns, read: _Read, cursor: Cursor) -> None:
    """Write all but clicks, and the place behind it."""
    connection = columns.connection
    with transaction(connection):
        _put_rows(connection, read)
        if any(_erases(fact) for fact in read.facts):
            note_forgotten(connection, columns.main)
        note_cursor(connection, cursor)


def _put_rows(connection: DuckDBPyConnection, read: _Read) -> None:
    by_place, facts, named, seen = read
    _put_links(connection, facts)
    put_link_changes(connection, by_place)
    _put_records(connection, named)
    if device_ids := _names(named, devices.NAME):
        delete_devices(connection, list(map(DeviceId, device_ids)))
        insert_devices(connection, _there(named, devices.NAME))
    if seen:
        see_devices(connection, seen)
    if purged := [fact["link"]["_id"] for fact in facts if fact.get("purged")]:
        forget_link_changes(connection, purged)
        forget_links(connection, purged)
    if install_ids := _names(named, installs.NAME):
        delete_installs(connection, list(map(InstallId, install_ids)))
        insert_installs(connection, _there(named, installs.NAME))


def _erases(fact: Fact) -> bool:
    """Whether no byte is to stay of what it deletes in the first file: people, and links that are gone."""
    return fact["type"] == REREAD or bool(fact.get("purged"))


def _put_links(connection: DuckDBPyConnection, facts: Sequence[Fact]) -> None:
    """Write the last state that facts give of each link, tag and cost."""
    if links := {fact["link"]["_id"]: fact["link"] for fact in facts if "link" in fact}:
        put_links(connection, links.values())
    if tags := {fact["tag_id"]: fact["name"] for fact in facts if fact["type"] == TAG}:
        put_tags(connection, tags)
    if costs := [fact for fact in facts if fact["type"] == COST]:
        put_costs(connection, costs)


def _put_records(connection: DuckDBPyConnection, named: Mapping[Name, Document | None]) -> None:
    records = [(kind, CallId(own_id)) for name, kind in KINDS.items() for own_id in _names(named, name)]
    if records:
        delete_records(connection, records)
    for name, kind in KINDS.items():
        if documents := _there(named, name):
            insert_records(connection, kind, documents)


def _names(named: Mapping[Name, Document | None], collection: str) -> list[str]:
    return [own_id for name, own_id in named if name == collection]


def _there(named: Mapping[Name, Document | None], collection: str) -> list[Document]:
    return [document for (name, _), document in named.items() if name == collection and document is not None]
