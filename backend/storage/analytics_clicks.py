"""Counts the clicks that a query of analytics asks for, out of the rollups of days.

Clicks are kept by quarter of an hour. What clicks were, who clicked, and what did not count are kept by days
in UTC. Where the time zone cuts such a day, its clicks are read from blocks, as long as they are not too many
and still there; else the whole day counts where its noon is, and a note says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.analytics_answer import Counted
from backend.domain.analytics_query import LINK_FIELDS, Measure, Query
from backend.domain.click_block import DAY_MS, Columns, UnreadableBlock, unpack
from backend.domain.ids import LinkId
from backend.domain.rollup import Dimension
from backend.storage import click_blocks, click_counts, organization_counts
from backend.storage.analytics_counting import ClickCounting, CutDays
from backend.storage.analytics_links import LinkRows, read_link_rows
from backend.storage.analytics_reading import Reading
from backend.storage.analytics_sums import sum_of_links
from backend.storage.day_counts import DayCounts, DayPart, read_day_counts, sum_clicks
from backend.storage.link_deltas import Delta, read_deltas, waiting_clicks_of
from backend.storage.rollups import Rollups, SubjectId

# Clicks that are read from blocks for days that a time zone cuts.
MOST_CUT_CLICKS = 50_000
# Documents of days that are read by their ids; for more, all of the organization's are looked at.
_MOST_BY_ID = 20_000
# Where spans have as many days or more, MongoDB adds up the clicks of each.
_DAYS_TO_SUM = 5
_COUNTED = frozenset({Measure.CLICKS, Measure.VISITORS, Measure.NOT_COUNTED})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


async def count_clicks(asked: Reading, counted: Counted) -> None:
    """Add what the organization's clicks come to, by group and in all."""
    query, spans = asked.query, asked.spans
    if not query.needed & _COUNTED:
        return
    reading = _ClickReading(asked)
    cut = await reading.cut_days()
    rows: Mapping[LinkId, LinkRows] | None = None
    if query.link_fields:
        rows = await read_link_rows(asked, query.filters)
    by_filter = not LINK_FIELDS.isdisjoint(query.filters)
    has_total = asked.has_total and (rows is None or by_filter)
    of_links = ClickCounting(query, spans, counted, cut, rows, has_total=has_total)
    if rows is None:
        await reading.organization(of_links)
    else:
        await reading.links(of_links, [each for each in rows if rows[each]], are_all=not by_filter)
        if asked.has_total and not by_filter:
            of_all = ClickCounting(query, spans, counted, cut, None, has_rows=False)
            await reading.organization(of_all)
    counted.notes += _notes(of_links, cut)


class _ClickReading:
    """Reads what is counted of an organization's clicks in the spans."""

    def __init__(self, asked: Reading) -> None:
        self._database = asked.database
        self._org_id = asked.org_id
        self._spans = asked.spans
        self._session = asked.session
        self._shared = asked.shared
        self._parts = _parts(asked.query)
        self._is_cut = any(each is not DayPart.QUARTERS for each in self._parts)

    async def organization(self, counting: ClickCounting) -> None:
        """Count what is kept of the organization as a whole."""
        if self._can_be_summed:
            await self._sum(counting, organization_counts.ROLLUPS, self._org_id)
        else:
            await self._read(counting, organization_counts.ROLLUPS, [self._org_id])

    async def links(self, counting: ClickCounting, ids: Sequence[LinkId], *, are_all: bool) -> None:
        """Count what is kept of these links, if they `are_all` that the organization has or not."""
        if not are_all and len(ids) * len(self._spans.days) <= _MOST_BY_ID:
            await self._read(counting, click_counts.ROLLUPS, ids)
        elif self._can_be_summed:
            await self._sum(counting, click_counts.ROLLUPS, None, frozenset(ids))
        else:
            await self._read(counting, click_counts.ROLLUPS, None)

    @property
    def _can_be_summed(self) -> bool:
        """Whether only clicks are asked for, of spans that have several days each."""
        has_days = len(self._spans.days) >= _DAYS_TO_SUM * len(self._spans)
        return has_days and self._parts == [DayPart.QUARTERS]

    async def _sum(
        self,
        counting: ClickCounting,
        rollups: Rollups,
        subject: SubjectId | None,
        link_ids: frozenset[LinkId] = frozenset(),
    ) -> None:
        """Count clicks of links or of one subject: whole days in sums, those that are cut by quarters."""
        name = rollups.collection
        for span in self._spans:
            if days := span.whole_days:
                sums = await self._sums(rollups, subject, days, link_ids)
                await beside_the_loop(partial(counting.add_sums, span.label, sums))
        for days in _runs([each for each in self._spans.days if self._spans.is_cut(each)]):
            subjects = None if subject is None else [subject]
            read_cut = partial(self._all_counts, rollups, subjects, days)
            for counts in await self._shared.once(("cut", name, subject, days), read_cut):
                await beside_the_loop(partial(counting.add, counts))
        await beside_the_loop(counting.finish)

    async def _sums(
        self, rollups: Rollups, subject: SubjectId | None, days: range, link_ids: frozenset[LinkId]
    ) -> Mapping[SubjectId, int]:
        database, org_id, session = self._database, self._org_id, self._session
        if subject is None:
            of_links = partial(self._sums_of_links, days, link_ids)
            return await self._shared.once(("links", days, link_ids), of_links)
        name = rollups.collection
        read = partial(sum_clicks, database, name, org_id, days, subject=subject, session=session)
        return await self._shared.once((name, subject, days), read)

    async def _sums_of_links(self, days: range, link_ids: frozenset[LinkId]) -> Mapping[SubjectId, int]:
        stored = await sum_of_links(self._database, self._org_id, days, list(link_ids), self._session)
        deltas = [each for each in await self._deltas() if each.day in days]
        if not deltas:
            return stored
        sums = dict(stored)
        for link_id, clicks in (await waiting_clicks_of(deltas)).items():
            sums[link_id] = sums.get(link_id, 0) + clicks
        return sums

    async def _deltas(self) -> Sequence[Delta]:
        """What is to be added to the counts of links, of all days."""
        read = partial(read_deltas, self._database, {"org_id": self._org_id}, self._session)
        return await self._shared.once("deltas", read)

    async def _all_counts(
        self, rollups: Rollups, subjects: Sequence[SubjectId] | None, days: range
    ) -> list[list[DayCounts]]:
        return [each async for each in self._day_counts(rollups, self._parts, subjects, days)]

    async def _read(
        self, counting: ClickCounting, rollups: Rollups, subjects: Sequence[SubjectId] | None
    ) -> None:
        async for counts in self._day_counts(rollups, self._parts, subjects):
            await beside_the_loop(partial(counting.add, counts))
        await beside_the_loop(counting.finish)

    async def _day_counts(
        self,
        rollups: Rollups,
        parts: Iterable[DayPart | Dimension],
        subjects: Sequence[SubjectId] | None,
        days: range | None = None,
    ) -> AsyncIterator[list[DayCounts]]:
        """What is counted on these days, or on all of the spans. Without subjects, of all that there are."""
        async for counts in read_day_counts(
            self._database,
            rollups.collection,
            self._org_id,
            days or self._spans.days,
            parts,
            subjects=subjects,
            deltas=await self._deltas() if rollups is click_counts.ROLLUPS else (),
            session=self._session,
        ):
            yield counts

    async def cut_days(self) -> CutDays:
        """The clicks of the days that the spans cut, where they can be read."""
        cut = [day for day in self._spans.days if self._spans.is_cut(day)] if self._is_cut else []
        if not cut:
            return CutDays()
        requests: dict[int, int] = {}
        read = self._day_counts(organization_counts.ROLLUPS, [Dimension.OUTCOME], [self._org_id])
        async for counts in read:
            for each in counts:
                requests[each.day] = sum(each.values.get(Dimension.OUTCOME, {}).values())
        found = {day: requests[day] for day in cut if requests.get(day)}
        if sum(found.values()) > MOST_CUT_CLICKS:
            return CutDays(whole=sorted(found))
        blocks: defaultdict[int, list[Columns]] = defaultdict(list)
        for run in _runs(sorted(found)):
            for day, block in await self._shared.once(("blocks", run), partial(self._blocks_of, run)):
                blocks[day].append(block)
        is_there = {day: sum(len(each.at) for each in blocks[day]) == count for day, count in found.items()}
        return CutDays(
            {day: blocks[day] for day in found if is_there[day]}, [day for day in found if not is_there[day]]
        )

    async def _blocks_of(self, days: range) -> list[tuple[int, Columns]]:
        """The blocks of these days whose clicks are counted, each with its day."""
        start, end = (_EPOCH + timedelta(days=each) for each in (days.start, days.stop))
        wanted = {"org_id": self._org_id, "last_at": {"$gte": start, "$lt": end}, "folded": True}
        cursor = self._database[click_blocks.NAME].find(wanted, {"packed": 1}, session=self._session)
        packed = [bytes(each["packed"]) async for each in cursor]
        return await beside_the_loop(partial(_unpacked, packed))


def _runs(days: Sequence[int]) -> Iterable[range]:
    """These days, those together that follow each other."""
    begin = 0
    for at in range(1, len(days) + 1):
        if at == len(days) or days[at] != days[at - 1] + 1:
            yield range(days[begin], days[at - 1] + 1)
            begin = at


def _parts(query: Query) -> list[DayPart | Dimension]:
    parts: list[DayPart | Dimension] = []
    if query.breakdown:
        return [Dimension(query.breakdown)]
    if Measure.CLICKS in query.needed:
        parts.append(DayPart.QUARTERS)
    if Measure.VISITORS in query.needed:
        parts.append(DayPart.VISITORS)
    if Measure.NOT_COUNTED in query.needed:
        parts.append(Dimension.REASON)
    return parts


def _unpacked(packed: Iterable[bytes]) -> list[tuple[int, Columns]]:
    """The blocks that can be read, with their days: a day that lacks one is counted as a whole."""
    blocks = []
    for each in packed:
        try:
            block = unpack(each)
        except UnreadableBlock:
            continue
        blocks.append((block.at[0] // DAY_MS, block))
    return blocks


def _notes(counting: ClickCounting, cut: CutDays) -> list[str]:
    notes = []
    if cut.whole:
        first, last = (f"{_EPOCH + timedelta(days=each):%Y-%m-%d}" for each in (cut.whole[0], cut.whole[-1]))
        notes.append(
            f"On {len(cut.whole)} days, from {first} to {last}, what is counted by days in UTC could not be "
            "divided at this time zone's midnight: such a day counts as a whole where its noon in UTC is."
        )
    if counting.is_by_hour:
        notes.append(
            "Some clicks are known by the hour only: they count in the first quarter of an hour that they "
            "may have been in."
        )
    return notes
