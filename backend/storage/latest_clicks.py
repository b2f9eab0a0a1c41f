"""The latest clicks of one link, out of blocks that hold those of all the organization's links.

The link's counts by day say on which days it has clicks, how many, and in which quarters of an hour; so only
blocks of those times are read, the newest first. How much is read has a bound: a link that is rare in a busy
organization may show fewer clicks than it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.click_block import UnreadableBlock, unpack
from backend.domain.clicks import Click
from backend.domain.ids import LinkId, OrgId
from backend.domain.rollup import QUARTER_SECONDS, Dimension
from backend.storage import click_blocks, click_counts
from backend.storage.deadlines import deadline
from backend.storage.link_deltas import of_links, waiting_documents, with_deltas
from backend.storage.mongo import Database, Document

MOST_CLICKS = 100
# What is read at most: clicks of all links, blocks, and days of the link.
MOST_READ = 300_000
MOST_BLOCKS = 1_000
MOST_DAYS = 100
# Days on which the newest clicks may be that are not counted yet.
_OPEN_DAYS = 2
_PATIENCE = 3.0  # seconds
_BLOCKS_AT_ONCE = 20
_DAY = timedelta(days=1)
_QUARTER = timedelta(seconds=QUARTER_SECONDS)


@dataclass(slots=True)
class LatestClicks:
    """The newest clicks first. Without `is_all_read`, older ones may be in what was not read."""

    clicks: list[Click] = field(default_factory=list)
    is_all_read: bool = True


@dataclass(frozen=True, slots=True)
class _Day:
    """A day in UTC: how many requests for the link are counted there, and between which times if known."""

    start: datetime
    requests: int
    first: datetime
    last: datetime

    def may_be_in(self, block: Document) -> bool:
        """Whether the block may have requests for the link. One that is not folded may have any."""
        is_in_time = block["last_at"] >= self.first and block["first_at"] < self.last
        return not block["folded"] or (self.requests > 0 and is_in_time)

    def with_more(self, other: _Day | None) -> _Day:
        """This day with what is counted in another place as well."""
        if other is None:
            return self
        first, last = min(self.first, other.first), max(self.last, other.last)
        return _Day(self.start, self.requests + other.requests, first, last)


async def latest_clicks(
    database: Database,
    org_id: OrgId,
    link_id: LinkId,
    now: datetime,
    since: datetime | None = None,
    *,
    most_read: int = MOST_READ,
) -> LatestClicks:
    """The organization's latest requests for the link, counted or not; with `since`, only those from then on.

    Raises StorageError after three seconds.
    """
    with deadline(_PATIENCE):
        return await _Reading(database, org_id, link_id, since, most_read).read(now)


class _Reading:
    def __init__(
        self, database: Database, org_id: OrgId, link_id: LinkId, since: datetime | None, most_read: int
    ) -> None:
        self._database = database
        self._org_id = org_id
        self._link_id = link_id
        self._since = since
        self._most_read = most_read
        self._read = 0
        self._found = LatestClicks()

    async def read(self, now: datetime) -> LatestClicks:
        """Read day by day until there are enough clicks, or enough was read."""
        days = await self._days(now)
        for day in days[:MOST_DAYS]:
            await self._read_day(day, is_closed=day.start + _DAY * _OPEN_DAYS <= now)
            if len(self._found.clicks) >= MOST_CLICKS or not self._found.is_all_read:
                break
        else:
            self._found.is_all_read = len(days) <= MOST_DAYS
        self._found.clicks = self._found.clicks[:MOST_CLICKS]
        return self._found

    async def _days(self, now: datetime) -> list[_Day]:
        """The days that may have requests for the link, the newest first; maybe more than are read."""
        today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        newest = [today - _DAY * ago for ago in range(_OPEN_DAYS)]
        days = {each: _Day(each, 0, each, each) for each in newest}
        days |= {each.start: each for each in await self._counted_days()}
        since = self._since
        return [days[each] for each in sorted(days, reverse=True) if since is None or each + _DAY > since]

    async def _counted_days(self) -> list[_Day]:
        prefix = f"{self._link_id}/day/"
        oldest = f"{self._since:%Y-%m-%d}" if self._since else ""
        wanted = {"_id": {"$gte": prefix + oldest, "$lt": f"{prefix}:"}, "org_id": self._org_id}
        fields = dict.fromkeys(("quarters", Dimension.OUTCOME, Dimension.REASON), 1)
        of_link = of_links(self._org_id, [self._link_id])
        async with with_deltas(self._database, of_link) as (session, deltas):
            waiting = (await waiting_documents(deltas, [self._link_id])).get(self._link_id, [])
            cursor = self._database[click_counts.NAME].find(wanted, fields, session=session)
            found = await cursor.sort("_id", -1).limit(MOST_DAYS + 1).to_list(None)
        found += [each for each in waiting if each["_id"] >= prefix + oldest and "day" in each]
        days: dict[str, _Day] = {}
        for each in found:
            name = each["_id"].removeprefix(prefix)
            days[name] = _day(name, each).with_more(days.get(name))
        return list(days.values())

    async def _read_day(self, day: _Day, *, is_closed: bool) -> None:
        """Add the day's clicks, as long as older blocks may have some of the newest."""
        found: list[Click] = []
        missing = day.requests
        blocks = [each for each in await self._blocks_of(day) if day.may_be_in(each)]
        for at in range(0, len(blocks), _BLOCKS_AT_ONCE):
            part = blocks[at : at + _BLOCKS_AT_ONCE]
            is_full = len(found) == MOST_CLICKS and part[0]["last_at"] < found[-1].at
            if is_full or (is_closed and missing <= 0):
                break
            if self._read >= self._most_read:
                self._found.is_all_read = False
                break
            clicks = await self._clicks_of([each["_id"] for each in part])
            self._read += sum(each["clicks"] for each in part)
            missing -= len(clicks)
            wanted = [each for each in clicks if self._since is None or each.at >= self._since]
            found = sorted(found + wanted, key=lambda each: each.at, reverse=True)[:MOST_CLICKS]
        self._found.clicks += found

    async def _blocks_of(self, day: _Day) -> list[Document]:
        """The day's blocks without their clicks, the newest first."""
        earliest = max(day.start, self._since) if self._since else day.start
        wanted = {"org_id": self._org_id, "last_at": {"$gte": earliest, "$lt": day.start + _DAY}}
        fields = dict.fromkeys(("first_at", "last_at", "clicks", "folded"), 1)
        cursor = self._database[click_blocks.NAME].find(wanted | {"is_unreadable": {"$ne": True}}, fields)
        found = await cursor.sort("last_at", -1).limit(MOST_BLOCKS + 1).to_list(None)
        if len(found) > MOST_BLOCKS:
            self._found.is_all_read = False
        return found[:MOST_BLOCKS]

    async def _clicks_of(self, block_ids: Sequence[str]) -> list[Click]:
        cursor = self._database[click_blocks.NAME].find({"_id": {"$in": block_ids}}, {"packed": 1})
        packed = [bytes(each["packed"]) async for each in cursor]
        return await beside_the_loop(partial(_clicks_in, packed, self._org_id, self._link_id))


def _day(name: str, counts: Document) -> _Day:
    start = datetime.strptime(name, "%Y-%m-%d").replace(tzinfo=UTC)
    requests = sum(counts.get(Dimension.OUTCOME, {}).values())
    quarters = [int(each) for each in counts.get("quarters", {})]
    if counts.get(Dimension.REASON) or not quarters:  # when they were is known of clicks only
        return _Day(start, requests, start, start + _DAY)
    return _Day(start, requests, start + _QUARTER * min(quarters), start + _QUARTER * (max(quarters) + 1))


def _clicks_in(packed: Sequence[bytes], org_id: OrgId, link_id: LinkId) -> list[Click]:
    """The link's clicks in these blocks. What can't be read is left out: `waylink doctor` tells of it."""
    clicks: list[Click] = []
    for each in packed:
        try:
            columns = unpack(each)
        except UnreadableBlock:
            continue
        if link_id in columns.links:
            clicks += [click for click in columns.clicks(org_id) if click.link_id == link_id]
    return clicks
