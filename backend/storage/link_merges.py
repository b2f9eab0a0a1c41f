"""Moves clicks of `link_deltas` into the documents of their links, those of many folds at once.

One transaction adds what the deltas of one part of an organization's links have, and deletes them. So each
click is in the counts once at every moment, and whoever is interrupted leaves nothing half done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import Facts, Tally
from backend.storage import click_counts
from backend.storage.click_folds import Busy, take
from backend.storage.link_deltas import NAME, READABLE, Delta, mark_unreadable
from backend.storage.mongo import ClientSession, Database, Document
from backend.storage.restores import being_restored
from backend.storage.transaction_pace import Pace


@dataclass(slots=True)
class _Merge:
    """Deltas that are merged together, and what they add, by whether the clicks were counted before.

    `unreadable` are those that can't be.
    """

    ids: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    facts: dict[bool, Facts] = field(default_factory=lambda: {False: Facts(), True: Facts()})

    @property
    def links(self) -> int:
        """How many links they have clicks on."""
        return sum(each.links for each in self.facts.values())

    def counts(self) -> dict[bool, Mapping[LinkId, Tally]]:
        """What is to be added to each link."""
        return {
            before: next(facts.by_link(lambda: self.links))
            for before, facts in self.facts.items()
            if facts.clicks
        }


class LinkMerges:
    """Merges part by part, in turn."""

    def __init__(self, database: Database, pace: Pace) -> None:
        self._database = database
        self._pace = pace
        self._last: dict[OrgId, int] = {}  # the part that was merged last

    async def merge_next(self, org_id: OrgId) -> int:
        """Merge what the organization's next part has. Returns how many clicks; 0: it has none at all.

        Raises Busy and StorageError.
        """
        part = await self._next_part(org_id)
        if part is None:
            return 0
        deltas = self._database[NAME].find({"org_id": org_id, "part": part} | READABLE, sort=[("_id", 1)])
        found = [Delta.of(each) async for each in deltas]
        merge = await beside_the_loop(partial(_gather, found, self._pace.links))
        if merge.unreadable:
            await mark_unreadable(self._database, merge.unreadable)
        if not merge.ids:
            return await self.merge_next(org_id)
        counts = await beside_the_loop(merge.counts)

        async def work(session: ClientSession) -> None:
            await take(self._database, session, [org_id])
            theirs = {"org_id": org_id, "_id": {"$in": merge.ids}}
            deleted = await self._database[NAME].delete_many(theirs, session=session)
            if deleted.deleted_count != len(merge.ids):
                raise Busy
            for counted_before, tallies in counts.items():
                await add_links(self._database, session, org_id, tallies, counted_before=counted_before)

        self._last[org_id] = part  # also if it fails: other parts must not wait for it
        await self._pace.run(self._database, work)
        return sum(each.clicks for each in merge.facts.values())

    async def _next_part(self, org_id: OrgId) -> int | None:
        """The part behind the one that was merged last, or else the first one; None if there is none."""
        theirs: Document = {"org_id": org_id} | READABLE
        behind = theirs | {"part": {"$gt": self._last.get(org_id, -1)}}
        for wanted in (behind, theirs):
            if found := await self._database[NAME].find_one(wanted, {"part": 1}, sort=[("part", 1)]):
                return int(found["part"])
        return None


async def add_links(
    database: Database,
    session: ClientSession,
    org_id: OrgId,
    tallies: Mapping[LinkId, Tally],
    *,
    counted_before: bool,
) -> None:
    """Add these counts to the documents of the organization's links."""
    owners = {link_id: {"org_id": org_id, "link_id": link_id} for link_id in tallies}
    await click_counts.ROLLUPS.add(database, session, tallies, owners, breakdown_only=counted_before)


async def unmerged_clicks(database: Database, org_ids: Iterable[OrgId]) -> dict[OrgId, int]:
    """How many clicks these organizations have in deltas. One that has none is left out."""
    return await _count(database, {"org_id": {"$in": list(org_ids)}})


async def all_unmerged_clicks(database: Database) -> dict[OrgId, int]:
    """How many clicks each organization has in deltas. One that has none is left out.

    So is one that is being restored: its restore may go on with what it stored before.
    """
    found = await _count(database, {})
    restored = await being_restored(database) if found else set()
    return {org_id: clicks for org_id, clicks in found.items() if org_id not in restored}


async def _count(database: Database, wanted: Document) -> dict[OrgId, int]:
    pipeline: list[Document] = [
        {"$match": wanted | READABLE},
        {"$group": {"_id": "$org_id", "clicks": {"$sum": "$clicks"}}},
    ]
    return {OrgId(each["_id"]): each["clicks"] async for each in database[NAME].aggregate(pipeline)}


def _gather(deltas: Sequence[Delta], most_links: int) -> _Merge:
    """As many of the deltas as have so many links, one at least."""
    merge = _Merge()
    for each in deltas:
        if merge.ids and merge.links >= most_links:
            break
        columns = each.columns()
        if columns is None:
            merge.unreadable.append(each.id)
            continue
        merge.ids.append(each.id)
        merge.facts[each.counted_before].add(columns)
    return merge
