"""Applies a part of an organization's feed to its tables.

A document that a fact names replaces its rows, whether they are there or not. Clicks count once, by the ids
of their blocks. So the same part may be applied several times, also if some of it is there already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from backend.domain.feed.facts import COST, REREAD, SUMMARY, TAG, Fact
from backend.domain.ids import CallId, DeviceId, InstallId, OrgId
from backend.storage.apps import installs
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks.summaries import documents_named
from backend.storage.columns.rows.clicks import StagedClicks, weight_of
from backend.storage.columns.rows.costs import put_costs
from backend.storage.columns.rows.devices import delete_devices, insert_devices, see_devices
from backend.storage.columns.rows.installs import delete_installs, insert_installs
from backend.storage.columns.rows.link_changes import forget_link_changes, put_link_changes
from backend.storage.columns.rows.links import forget_links, put_links, put_tags
from backend.storage.columns.rows.records import KINDS, delete_records, insert_records
from backend.storage.columns.rows.rereading import find_again, find_last_seen
from backend.storage.columns.rows.summaries import delete_blocks, insert_summaries
from backend.storage.columns.tables.forgetting import note_forgotten
from backend.storage.columns.tables.pieces import in_pieces
from backend.storage.columns.tables.state import note_cursor
from backend.storage.columns.tables.transactions import long_transaction, to_its_end, transaction
from backend.storage.driver.mongo import Database, Document
from backend.storage.feed.packed import Name, PackedPage, name_of
from backend.storage.visitors import devices


async def apply(
    database: Database, org_id: OrgId, connection: DuckDBPyConnection, page: PackedPage, share: float = 1.0
) -> list[str]:
    """Apply a page of the feed. The place behind it is written in one transaction with the last of it.

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
    *pieces, last = list(in_pieces(blocks.values(), weight_of, share)) or [[]]
    unreadable: list[str] = []
    for piece in pieces:
        unreadable += await to_its_end(partial(_insert_blocks, connection, piece))
    staged = await to_its_end(partial(StagedClicks, connection, last))
    async with long_transaction(connection):
        await to_its_end(partial(_apply, connection, read, staged))
        await _put_summaries(database, org_id, connection, facts)
        await to_its_end(partial(_go_behind, connection, page))
    return unreadable + staged.unreadable


class _Read(NamedTuple):
    """What was read of a page: its facts, and the documents that they name."""

    by_place: Sequence[tuple[int, Sequence[Fact]]]
    facts: Sequence[Fact]
    named: Mapping[Name, Document | None]
    seen: Mapping[DeviceId, datetime]


def _insert_blocks(connection: DuckDBPyConnection, blocks: Sequence[Document]) -> list[str]:
    staged = StagedClicks(connection, blocks)
    with transaction(connection):
        staged.insert()
    return staged.unreadable


def _apply(connection: DuckDBPyConnection, read: _Read, blocks: StagedClicks) -> None:
    by_place, facts, named, seen = read
    _put_links(connection, facts)
    put_link_changes(connection, by_place)
    blocks.insert()
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


async def _put_summaries(
    database: Database, org_id: OrgId, connection: DuckDBPyConnection, facts: Sequence[Fact]
) -> None:
    """Put what days are added up to in the place of their blocks, in the caller's transaction.

    One summary after the other: each has up to 50,000 rows.
    """
    added_up = [fact for fact in facts if fact["type"] == SUMMARY]
    if gone := [own_id for fact in added_up for own_id in fact["blocks"]]:
        await to_its_end(partial(delete_blocks, connection, gone))
    if own_ids := [own_id for fact in added_up for own_id in fact["summaries"]]:
        async with aclosing(documents_named(database, org_id, own_ids)) as summaries:
            async for summary in summaries:
                await to_its_end(partial(insert_summaries, connection, [summary]))


def _go_behind(connection: DuckDBPyConnection, page: PackedPage) -> None:
    if any(_erases(fact) for entry in page.entries for fact in entry.facts):
        note_forgotten(connection)
    note_cursor(connection, page.next_cursor)


def _erases(fact: Fact) -> bool:
    """Whether no byte is to stay of what it deletes: people, visitors' hashes, links that are gone."""
    return fact["type"] in {REREAD, SUMMARY} or bool(fact.get("purged"))


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
