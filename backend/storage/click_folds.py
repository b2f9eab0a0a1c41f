"""Folds blocks of clicks into the rollups, each block exactly once. `click_folds` says what is half done.

A fold marks its blocks as folded and adds their clicks to the rollups in one transaction. What touches more
links than one transaction should is done in several: the first one marks the blocks and opens the fold in the
organization's document here; each of the others adds what comes next in the order of link ids, and moves
`to_link`; the last one closes the fold. Whoever finds an open fold, such as that of a process that was
killed, goes on with it: the same blocks give the same counts.

Every such transaction first writes the organization's document. So of two folders that work on one
organization, the second one fails at once.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pymongo import IndexModel, UpdateMany, UpdateOne

from backend.domain.click_block import UnreadableBlock, unpack
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import Facts, Tally
from backend.storage import click_blocks, click_counts, organization_counts
from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.deleted_organizations import find_deleted
from backend.storage.mongo import (
    ClientSession,
    Database,
    Document,
    StorageError,
    deadline,
    in_transaction,
    is_conflict,
)
from backend.storage.organizations import find_click_days
from backend.storage.ownership import ById

NAME = "click_folds"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("fold", partialFilterExpression={"fold": {"$exists": True}}, name="open")],
    owned_by=ById(),
    personal=NotPersonal("positions"),
    retention=NoRetention("positions"),
)
# Clicks that one fold takes at most, and so holds in memory: some 30 MB.
MOST_CLICKS = 200_000
MOST_BLOCKS = 2_000
# Links whose counts one transaction changes: two documents or more each.
LINKS_AT_ONCE = 2_000
_FEWEST_AT_ONCE = 50
# A link with many clicks at many times has hundreds of documents of minutes. After a transaction that took so
# long, the next one has half as many links. The server of our own ends one after five.
_LONG = 2.0
_FOLD_SECONDS = 60.0
_CLOSED: Document = {"fold": {"$exists": False}}
OPEN: Document = {"fold": {"$exists": True}}
# Until the fold is closed, its blocks must not expire: who goes on with it reads them again.
_IN_FOLD: Document = {"$set": {"folded": True, "in_fold": True}}
_DAY_MS = 24 * 3600 * 1000
_logger = logging.getLogger(__name__)


class Busy(Exception):
    """Another process folds the same organization's clicks, or did meanwhile. Nothing was changed."""


class BlocksMissing(Exception):
    """An open fold names blocks that are not here: the organization is just being restored."""


@dataclass(slots=True)
class Folded:
    """What a step has done: how many clicks it folded, and how many blocks of each organization.

    `unreadable` blocks could not be read. `is_all`: nothing else waited.
    """

    clicks: int = 0
    blocks: Counter[OrgId] = field(default_factory=Counter)
    unreadable: int = 0
    is_all: bool = True

    def add(self, batch: _Batch) -> None:
        """Note that this batch is folded."""
        self.clicks += batch.facts.clicks
        self.blocks[batch.org_id] += len(batch.block_ids)


@dataclass(slots=True)
class _Batch:
    """Blocks of one organization that are folded together. All or none were counted before the ledger."""

    org_id: OrgId
    counted_before: bool
    block_ids: list[str] = field(default_factory=list)
    facts: Facts = field(default_factory=Facts)


@dataclass(frozen=True, slots=True)
class _Counts:
    """What a batch adds, if one transaction takes all of it."""

    batch: _Batch
    organization: Tally
    links: Mapping[LinkId, Tally]

    @classmethod
    def of(cls, batch: _Batch) -> _Counts:
        """Count the batch's clicks."""
        links = next(batch.facts.by_link(lambda: batch.facts.links))
        return cls(batch, batch.facts.of_organization(), links)


class Folds:
    """Folds what waits, step by step."""

    def __init__(self, database: Database, links_at_once: int = LINKS_AT_ONCE) -> None:
        self._database = database
        self._most_links = self._links_at_once = links_at_once

    async def fold(self, org_ids: Iterable[OrgId], most_clicks: int = MOST_CLICKS) -> Folded:
        """Fold clicks of some of these organizations that wait, about `most_clicks` at most.

        Call it again until it folds nothing. Raises Busy and StorageError.
        """
        with deadline(_FOLD_SECONDS):
            return await self._fold(list(org_ids), most_clicks)

    async def _fold(self, org_ids: list[OrgId], most_clicks: int) -> Folded:
        org_ids = await self._without_deleted(org_ids)
        async for opened in self._database[NAME].find({"_id": {"$in": org_ids}} | OPEN):
            try:
                return await self._finish(opened)
            except BlocksMissing:  # those of others are not to wait for it
                org_ids.remove(opened["_id"])
        folded = Folded()
        batches = await self._next_batches(org_ids, most_clicks, folded)
        fitting, links = [], 0
        for batch in batches:
            links += batch.facts.links
            if links <= self._links_at_once:
                fitting.append(batch)
        if fitting:
            # Counted before the transaction begins: it has only seconds, and may be tried again.
            counts = [_Counts.of(each) for each in fitting]
            await self._add_in_transaction(lambda session: self._fold_whole(session, counts))
        elif batches:
            fitting = batches[:1]
            await self._finish(await self._open(batches[0]), batches[0].facts)
        for batch in fitting:
            folded.add(batch)
        folded.is_all = folded.is_all and fitting == batches
        return folded

    async def _without_deleted(self, org_ids: list[OrgId]) -> list[OrgId]:
        """Those of these organizations that exist.

        Clicks of deleted ones, such as those that had waited on a disk, are deleted: nobody could see them.
        """
        if deleted := await find_deleted(self._database, org_ids):
            theirs = {"org_id": {"$in": list(deleted)}, "folded": False}
            late = await self._database[click_blocks.NAME].delete_many(theirs)
            _logger.info("%s blocks of clicks came after their organization was deleted", late.deleted_count)
        return [org_id for org_id in org_ids if org_id not in deleted]

    async def _next_batches(self, org_ids: list[OrgId], most_clicks: int, folded: Folded) -> list[_Batch]:
        """Blocks that wait, by organization. Those that can't be read are marked."""
        batches: dict[OrgId, _Batch] = {}
        clicks = blocks = 0
        fields = {"org_id": 1, "packed": 1, "clicks": 1, "counted_before": 1}
        cursor = self._database[click_blocks.NAME].find(
            {"org_id": {"$in": org_ids}, "folded": False}, fields, limit=MOST_BLOCKS
        )
        try:
            async for found in cursor:
                blocks += 1
                if clicks and clicks + found["clicks"] > most_clicks:
                    folded.is_all = False
                    break
                counted_before = bool(found.get("counted_before"))
                batch = batches.setdefault(found["org_id"], _Batch(found["org_id"], counted_before))
                if batch.counted_before is not counted_before:
                    folded.is_all = False
                    continue
                try:
                    batch.facts.add(unpack(found["packed"]))
                except UnreadableBlock as error:
                    await self._mark_unreadable(found["_id"], error)
                    folded.unreadable += 1
                else:
                    batch.block_ids.append(found["_id"])
                    clicks += found["clicks"]
        finally:
            await cursor.close()
        folded.is_all = folded.is_all and blocks < MOST_BLOCKS
        return [batches[org_id] for org_id in sorted(batches) if batches[org_id].block_ids]

    async def _mark_unreadable(self, block_id: str, error: UnreadableBlock) -> None:
        """Leave the block out: it is never folded nor deleted, and `waylink doctor` tells of it."""
        _logger.error("The block %s of clicks can't be read: %s", block_id, error)
        await self._database[click_blocks.NAME].update_one(
            {"_id": block_id, "folded": False},
            {"$set": {"folded": True, "is_unreadable": True}, "$unset": {"is_small": 1}},
        )

    async def _add_in_transaction(self, work: Callable[[ClientSession], Coroutine[Any, Any, None]]) -> None:
        """Run `work`, which adds to the counts of links. How long it takes says how many come next."""
        began = time.monotonic()
        try:
            await in_transaction(self._database, work)
        finally:  # also where it failed: the server gives up on one that takes too long with various errors
            is_long = time.monotonic() - began > _LONG
            more = self._links_at_once // 2 if is_long else self._links_at_once + _FEWEST_AT_ONCE
            self._links_at_once = min(self._most_links, max(_FEWEST_AT_ONCE, more))

    async def _fold_whole(self, session: ClientSession, counts: Sequence[_Counts]) -> None:
        """Fold these batches in this transaction."""
        batches = [each.batch for each in counts]
        await take(self._database, session, [each.org_id for each in batches])
        await self._mark(session, batches, folded=False, is_done=True)
        for each in counts:
            await self._add_organization(session, each.batch.org_id, each.organization)
            await self._add_links(session, each.batch.org_id, each.links, each.batch.counted_before)

    async def _open(self, batch: _Batch) -> Document:
        """Open a fold of the batch. Returns its document."""
        opened = {
            "fold": uuid.uuid4().hex,
            "blocks": batch.block_ids,
            "counted_before": batch.counted_before,
            "to_link": "",
        }

        organization = batch.facts.of_organization()

        async def work(session: ClientSession) -> None:
            await take(self._database, session, [batch.org_id])
            await self._database[NAME].update_one({"_id": batch.org_id}, {"$set": opened}, session=session)
            await self._mark(session, [batch], folded=False, is_done=False)
            await self._add_organization(session, batch.org_id, organization)

        await in_transaction(self._database, work)
        return {"_id": batch.org_id, **opened}

    async def _finish(self, opened: Document, facts: Facts | None = None) -> Folded:
        """Do what is left of an open fold, and close it."""
        batch = _Batch(opened["_id"], opened["counted_before"], opened["blocks"])
        batch.facts = facts or await self._facts_of(batch.org_id, batch.block_ids)
        place = {"_id": batch.org_id, "fold": opened["fold"], "to_link": opened["to_link"]}
        for tallies in batch.facts.by_link(lambda: self._links_at_once, place["to_link"]):
            place = await self._go_on(batch, place, tallies)

        async def close(session: ClientSession) -> None:
            await self._move(session, place, {"$unset": dict.fromkeys(opened.keys() - {"_id", "folds"}, 1)})
            await self._mark(session, [batch], folded=True, is_done=True)

        await in_transaction(self._database, close)
        folded = Folded(is_all=False)
        folded.add(batch)
        return folded

    async def _facts_of(self, org_id: OrgId, block_ids: list[str]) -> Facts:
        facts, found = Facts(), 0
        wanted = {"_id": {"$in": block_ids}, "org_id": org_id}
        async for block in self._database[click_blocks.NAME].find(wanted, {"packed": 1}):
            facts.add(unpack(block["packed"]))
            found += 1
        if found != len(block_ids):
            raise BlocksMissing
        return facts

    async def _go_on(self, batch: _Batch, place: Document, tallies: Mapping[LinkId, Tally]) -> Document:
        """Add the counts of the next links. Returns how far the fold has come."""
        reached = max(tallies)

        async def work(session: ClientSession) -> None:
            await self._move(session, place, {"$set": {"to_link": reached}})
            await self._add_links(session, batch.org_id, tallies, batch.counted_before)

        await self._add_in_transaction(work)
        return place | {"to_link": reached}

    async def _move(self, session: ClientSession, place: Document, change: Document) -> None:
        """Change an open fold that has come to this place. Raises Busy if it has not."""
        try:
            moved = await self._database[NAME].update_one(place, change, session=session)
        except StorageError as error:
            raise _busy(error) from None
        if not moved.matched_count:
            raise Busy

    async def _mark(
        self, session: ClientSession, batches: Sequence[_Batch], *, folded: bool, is_done: bool
    ) -> None:
        """Mark the blocks as folded, and if that `is_done`, let them expire.

        Raises Busy if they are not `folded`.
        """
        days = (
            await find_click_days(self._database, [each.org_id for each in batches], session)
            if is_done
            else {}
        )
        updates = [
            UpdateMany(
                {"org_id": each.org_id, "_id": {"$in": each.block_ids}, "folded": folded},
                marking(days[each.org_id]) if is_done else _IN_FOLD,
            )
            for each in batches
        ]
        marked = await self._database[click_blocks.NAME].bulk_write(updates, session=session)
        if marked.matched_count != sum(len(each.block_ids) for each in batches):
            raise Busy

    async def _add_organization(self, session: ClientSession, org_id: OrgId, tally: Tally) -> None:
        await organization_counts.ROLLUPS.add(
            self._database, session, {org_id: tally}, {org_id: {"org_id": org_id}}
        )

    async def _add_links(
        self, session: ClientSession, org_id: OrgId, tallies: Mapping[LinkId, Tally], counted_before: bool
    ) -> None:
        owners = {link_id: {"org_id": org_id, "link_id": link_id} for link_id in tallies}
        await click_counts.ROLLUPS.add(
            self._database, session, tallies, owners, breakdown_only=counted_before
        )


async def take(database: Database, session: ClientSession, org_ids: Sequence[OrgId]) -> None:
    """Keep everybody else from folding or merging these organizations' blocks until the transaction ends.

    Raises Busy if somebody does, or if a fold is open.
    """
    takes = [
        UpdateOne({"_id": each} | _CLOSED, {"$inc": {"folds": 1}}, upsert=True) for each in sorted(org_ids)
    ]
    try:
        await database[NAME].bulk_write(takes, session=session, ordered=True)
    except StorageError as error:
        raise _busy(error) from None


def _busy(error: StorageError) -> Exception:
    return Busy() if is_conflict(error) else error


def folded_fields(last_at: datetime, days: int | None) -> Document:
    """The fields of a folded block with this last click; `days` is the organization's click_days."""
    return {"folded": True} | ({"expires_at": last_at + timedelta(days=days)} if days is not None else {})


def marking(days: int | None) -> list[Document]:
    """The update that does the same to blocks that are stored."""
    expires = "$$REMOVE" if days is None else {"$add": ["$last_at", days * _DAY_MS]}
    return [{"$set": {"folded": True, "in_fold": "$$REMOVE", "expires_at": expires}}]
