"""Folds blocks of clicks into the rollups, each block exactly once.

A fold marks its blocks as folded and adds their clicks to the organization's counts and to those of links in
one transaction. What touches more links than such a transaction should is stored as `link_deltas` in the same
transaction, and merged into the counts of links later. `click_folds` lets one process at a time do so.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pymongo import UpdateMany

from backend.domain.click_block import UnreadableBlock, unpack
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import Facts, Tally
from backend.storage import click_blocks, click_folds, link_deltas, organization_counts
from backend.storage.click_folds import MOST_BLOCKS, OPEN, Busy, busy, marking, take
from backend.storage.click_logs import forget_organization
from backend.storage.deadlines import deadline
from backend.storage.deleted_organizations import find_deleted
from backend.storage.feed import entries, heads
from backend.storage.link_deltas import new_deltas
from backend.storage.link_merges import LinkMerges, add_links, unmerged_clicks
from backend.storage.mongo import ClientSession, Database, Document, StorageError, in_transaction
from backend.storage.transaction_pace import Pace

# Clicks that one fold takes at most, and so holds in memory: some 30 MB.
MOST_CLICKS = 200_000
# Links whose counts one transaction changes: two documents or more each.
LINKS_AT_ONCE = 2_000
# A fold changes the counts of so many links itself, and of more where they have so many clicks each. Else
# their clicks are stored for a merge, which then costs a part of it.
_FEW_LINKS = 500
_MANY_CLICKS = 10
# Clicks of an organization that wait to be merged while there is more to fold: who reads counts of all its
# links reads these too. The more they are, the fewer documents are written for a click.
MOST_UNMERGED = 200_000
_MERGE_SECONDS = 0.5  # after so long, folding comes first again
# Where so many wait, readers would take too long: for this time, merging comes first.
_FAR_TOO_MANY_UNMERGED, _LONG_MERGE_SECONDS = 5 * MOST_UNMERGED, 20.0
_FOLD_SECONDS = 60.0
_logger = logging.getLogger(__name__)


class BlocksMissing(Exception):
    """An open fold names blocks that are not here: the organization is just being restored."""


@dataclass(slots=True)
class Folded:
    """What a step has done: how many clicks it folded, and how many blocks of each organization.

    `unreadable` blocks could not be read. `is_all`: nothing else waited. `unmerged`: how many clicks
    each of the organizations has left to merge, if any.
    """

    clicks: int = 0
    blocks: Counter[OrgId] = field(default_factory=Counter)
    unreadable: int = 0
    is_all: bool = True
    unmerged: dict[OrgId, int] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to fold or to merge."""
        return self.is_all and not self.unmerged

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

    @property
    def is_cheap(self) -> bool:
        """Whether it takes less to change the counts of its links at once than to store it for a merge."""
        links = self.facts.links
        return links <= _FEW_LINKS or self.facts.clicks >= _MANY_CLICKS * links


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
        self._pace = Pace(links_at_once)
        self._merges = LinkMerges(database, self._pace)

    async def fold(
        self, org_ids: Iterable[OrgId], most_clicks: int = MOST_CLICKS, *, merges: bool = True
    ) -> Folded:
        """Fold clicks of some of these organizations that wait, about `most_clicks` at most.

        With `merges`, go on to merge what earlier folds stored for that. Call it again until all is folded
        and merged. Raises Busy and StorageError.
        """
        with deadline(_FOLD_SECONDS):
            return await self._fold(list(org_ids), most_clicks, merges=merges)

    async def _fold(self, org_ids: list[OrgId], most_clicks: int, *, merges: bool) -> Folded:
        org_ids = await self._without_deleted(org_ids)
        async for opened in self._database[click_folds.NAME].find({"_id": {"$in": org_ids}} | OPEN):
            try:
                return await self._finish(opened)
            except BlocksMissing:  # those of others are not to wait for it
                org_ids.remove(opened["_id"])
        folded = Folded()
        batches = await self._next_batches(org_ids, most_clicks, folded)
        fitting = self._fitting(batches)
        most_unmerged = 0
        if fitting:
            # Counted before the transaction begins: it has only seconds, and may be tried again.
            counts = [_Counts.of(each) for each in fitting]
            await self._pace.run(self._database, lambda session: self._fold_whole(session, counts))
        elif batches:
            fitting, most_unmerged = batches[:1], MOST_UNMERGED
            await self._defer(batches[0])
        for batch in fitting:
            folded.add(batch)
        folded.is_all = folded.is_all and fitting == batches
        folded.unmerged = await self._merge(org_ids, most_unmerged, wanted=merges)
        return folded

    def _fitting(self, batches: Sequence[_Batch]) -> list[_Batch]:
        """Those of the batches that one transaction folds."""
        fitting, links = [], 0
        for batch in batches:
            if not batch.is_cheap:
                continue
            links += batch.facts.links
            if links <= self._pace.links:
                fitting.append(batch)
        return fitting

    async def _merge(self, org_ids: Iterable[OrgId], most_left: int, *, wanted: bool) -> dict[OrgId, int]:
        """Merge for a while, until so many clicks of each are left. Returns how many are."""
        left = await unmerged_clicks(self._database, org_ids)
        is_too_much = max(left.values(), default=0) > _FAR_TOO_MANY_UNMERGED
        end = time.monotonic() + (_LONG_MERGE_SECONDS if is_too_much else _MERGE_SECONDS)
        for org_id in left if wanted else ():
            while left[org_id] > most_left and time.monotonic() < end:
                left[org_id] -= await self._merges.merge_next(org_id) or left[org_id]
        return {org_id: clicks for org_id, clicks in left.items() if clicks}

    async def _without_deleted(self, org_ids: list[OrgId]) -> list[OrgId]:
        """Those of these organizations that exist.

        Clicks of deleted ones, such as those that had waited on a disk, are deleted: nobody could see them.
        """
        if deleted := await find_deleted(self._database, org_ids):
            theirs = {"org_id": {"$in": list(deleted)}, "folded": False}
            late = await self._database[click_blocks.NAME].delete_many(theirs)
            for org_id in deleted:
                await forget_organization(self._database, org_id)
            # They were noted in a feed: without entries nobody gives places in it, and makes it a head again.
            await self._database[entries.NAME].delete_many({"org_id": {"$in": list(deleted)}})
            await self._database[heads.NAME].delete_many({"_id": {"$in": list(deleted)}})
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
        await click_blocks.mark_unreadable(self._database, [block_id], folded=False)

    async def _fold_whole(self, session: ClientSession, counts: Sequence[_Counts]) -> None:
        """Fold these batches in this transaction."""
        batches = [each.batch for each in counts]
        await take(self._database, session, [each.org_id for each in batches])
        await self._mark(session, batches, folded=False)
        for each in counts:
            await self._add_organization(session, each.batch.org_id, each.organization)
            await add_links(
                self._database,
                session,
                each.batch.org_id,
                each.links,
                counted_before=each.batch.counted_before,
            )

    async def _defer(self, batch: _Batch) -> None:
        """Fold the batch, but leave the counts of links to a merge."""
        organization = batch.facts.of_organization()
        deltas = new_deltas(batch.org_id, batch.facts, counted_before=batch.counted_before)

        async def work(session: ClientSession) -> None:
            await take(self._database, session, [batch.org_id])
            await self._mark(session, [batch], folded=False)
            await self._add_organization(session, batch.org_id, organization)
            await self._database[link_deltas.NAME].insert_many(deltas, session=session)

        await in_transaction(self._database, work)

    async def _finish(self, opened: Document) -> Folded:
        """Close a fold that a former version left open: links behind the one it had come to are deferred."""
        batch = _Batch(opened["_id"], opened["counted_before"], opened["blocks"])
        batch.facts = await self._facts_of(batch.org_id, batch.block_ids)
        deltas = new_deltas(
            batch.org_id, batch.facts, counted_before=batch.counted_before, after=opened["to_link"]
        )
        place = {"_id": batch.org_id, "fold": opened["fold"], "to_link": opened["to_link"]}
        closing = {"$unset": dict.fromkeys(opened.keys() - {"_id", "folds"}, 1)}

        async def close(session: ClientSession) -> None:
            try:
                closed = await self._database[click_folds.NAME].update_one(place, closing, session=session)
            except StorageError as error:
                raise busy(error) from None
            if not closed.matched_count:
                raise Busy
            await self._mark(session, [batch], folded=True)
            if deltas:
                await self._database[link_deltas.NAME].insert_many(deltas, session=session)

        await in_transaction(self._database, close)
        folded = Folded(is_all=False, unmerged=await unmerged_clicks(self._database, [batch.org_id]))
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

    async def _mark(self, session: ClientSession, batches: Sequence[_Batch], *, folded: bool) -> None:
        """Mark the blocks as folded. Raises Busy if they are not `folded`."""
        updates = [
            UpdateMany(
                {"org_id": each.org_id, "_id": {"$in": each.block_ids}, "folded": folded},
                marking(),
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
