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
from backend.domain.analytics_answer import Counted, Figures, Group
from backend.domain.analytics_query import LINK_FIELDS, TIMES, Field, Measure, Query
from backend.domain.click_block import Columns, UnreadableBlock, unpack
from backend.domain.ids import LinkId
from backend.domain.query_period import QUARTERS_OF_DAY, Spans
from backend.domain.rollup import QUARTER_SECONDS, Dimension
from backend.storage import click_blocks, click_counts, organization_counts
from backend.storage.analytics_links import LinkValues, read_link_values
from backend.storage.analytics_reading import Reading
from backend.storage.day_counts import DayCounts, DayPart, read_day_counts
from backend.storage.rollups import Rollups
from backend.storage.visitor_sketches import count_visitors, unite_sketches

# Clicks that are read from blocks for days that a time zone cuts.
MOST_CUT_CLICKS = 50_000
# Documents of days that are read by their ids; for more, all of the organization's are looked at.
_MOST_BY_ID = 20_000
_COUNTED = frozenset({Measure.CLICKS, Measure.VISITORS, Measure.NOT_COUNTED})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_QUARTER_MS = QUARTER_SECONDS * 1000


async def count_clicks(asked: Reading, counted: Counted) -> None:
    """Add what the organization's clicks come to, by group and in all."""
    query, spans = asked.query, asked.spans
    if not query.needed & _COUNTED:
        return
    reading = _ClickReading(asked)
    cut = await reading.cut_days()
    values: Mapping[LinkId, LinkValues] | None = None
    if query.link_fields:
        values = await read_link_values(asked, query.filters)
    by_filter = not LINK_FIELDS.isdisjoint(query.filters)
    of_links = _Counting(query, spans, counted, cut, values, has_total=values is None or by_filter)
    if values is None:
        await reading.organization(of_links)
    else:
        await reading.links(of_links, values if by_filter else None)
        if not by_filter:
            of_all = _Counting(query, spans, counted, cut, None, has_rows=False)
            await reading.organization(of_all)
    counted.notes += _notes(of_links, cut)


class _ClickReading:
    """Reads what is counted of an organization's clicks in the spans."""

    def __init__(self, asked: Reading) -> None:
        self._database = asked.database
        self._org_id = asked.org_id
        self._spans = asked.spans
        self._session = asked.session
        self._parts = _parts(asked.query)
        self._is_cut = any(each is not DayPart.QUARTERS for each in self._parts)

    async def organization(self, counting: _Counting) -> None:
        """Count what is kept of the organization as a whole."""
        await self._read(counting, organization_counts.ROLLUPS, [self._org_id])

    async def links(self, counting: _Counting, only: Iterable[LinkId] | None) -> None:
        """Count what is kept of links, of all or only of these."""
        subjects = None if only is None else list(only)
        if subjects is not None and len(subjects) * len(self._spans.days) > _MOST_BY_ID:
            subjects = None
        await self._read(counting, click_counts.ROLLUPS, subjects)

    async def _read(self, counting: _Counting, rollups: Rollups, subjects: Sequence[str] | None) -> None:
        days = self._day_counts(rollups, self._parts, subjects)
        async for counts in days:
            await beside_the_loop(partial(counting.add, counts))
        await beside_the_loop(counting.finish)

    def _day_counts(
        self, rollups: Rollups, parts: Iterable[DayPart | Dimension], subjects: Sequence[str] | None
    ) -> AsyncIterator[list[DayCounts]]:
        """What is counted on the spans' days. Without subjects, of all that the organization has."""
        return read_day_counts(
            self._database,
            rollups.collection,
            self._org_id,
            self._spans.days,
            parts,
            subjects=subjects,
            session=self._session,
        )

    async def cut_days(self) -> _CutDays:
        """The clicks of the days that the spans cut, where they can be read."""
        cut = [day for day in self._spans.days if self._spans.is_cut(day)] if self._is_cut else []
        if not cut:
            return _CutDays()
        requests: dict[int, int] = {}
        read = self._day_counts(organization_counts.ROLLUPS, [Dimension.OUTCOME], [self._org_id])
        async for counts in read:
            for each in counts:
                requests[each.day] = sum(each.values.get(Dimension.OUTCOME, {}).values())
        found = {day: requests[day] for day in cut if requests.get(day)}
        if sum(found.values()) > MOST_CUT_CLICKS:
            return _CutDays(whole=sorted(found))
        blocks = {day: await self._blocks_of(day) for day in found}
        is_there = {day: sum(len(each.at) for each in blocks[day]) == count for day, count in found.items()}
        return _CutDays(
            {day: blocks[day] for day in found if is_there[day]}, [day for day in found if not is_there[day]]
        )

    async def _blocks_of(self, day: int) -> list[Columns]:
        """The blocks of a day whose clicks are counted."""
        start = _EPOCH + timedelta(days=day)
        wanted = {
            "org_id": self._org_id,
            "last_at": {"$gte": start, "$lt": start + timedelta(days=1)},
            "folded": True,
        }
        cursor = self._database[click_blocks.NAME].find(wanted, {"packed": 1}, session=self._session)
        packed = [bytes(each["packed"]) async for each in cursor]
        return await beside_the_loop(partial(_unpacked, packed))


class _CutDays:
    """Days in UTC of which a span has only a part.

    `blocks` has the clicks of those that could be read; `whole` are those that could not.
    """

    def __init__(self, blocks: Mapping[int, list[Columns]] | None = None, whole: Sequence[int] = ()) -> None:
        self.blocks = blocks or {}
        self.whole = whole


class _Counting:
    """Adds up what is kept of days. Call `add` with one day after the other, and then `finish`."""

    def __init__(
        self,
        query: Query,
        spans: Spans,
        counted: Counted,
        cut: _CutDays,
        values: Mapping[LinkId, LinkValues] | None,
        *,
        has_rows: bool = True,
        has_total: bool = True,
    ) -> None:
        self._query = query
        self._spans = spans
        self._counted = counted
        self._cut = cut
        self._values = values
        self._has_rows = has_rows
        self._has_total = has_total
        self._needed = query.needed
        self._breakdown = query.breakdown
        self._dimension = Dimension(query.breakdown) if query.breakdown else None
        self._only = query.filters.get(query.breakdown) if query.breakdown else None
        self._slots = group_slots(query)
        self._has_days = bool(self._dimension or self._needed & {Measure.VISITORS, Measure.NOT_COUNTED})
        self._day = -1
        self._cuts_hours = False
        self._parts: list[tuple[int, int, str | None]] = []
        self._sketches: defaultdict[Group | None, list[bytes]] = defaultdict(list)
        self.is_by_hour = False

    def add(self, counts: Iterable[DayCounts]) -> None:
        """Add what is kept of these, in the order of their days."""
        for each in counts:
            links = self._links_of(each.subject)
            if links is None:
                continue
            if each.day != self._day:
                self._begin(each.day)
            if self._dimension is None and Measure.CLICKS in self._needed:
                self._add_quarters(each, links)
            if self._has_days:
                self._add_day(each, links)

    def finish(self) -> None:
        """Add what could only be added at the end, and what is in cut days."""
        self._count_sketches()
        for day, blocks in self._cut.blocks.items():
            self._add_blocks(day, blocks)

    def _links_of(self, subject: str) -> LinkValues | None:
        """The values of the link; None if it is not asked for."""
        return () if self._values is None else self._values.get(LinkId(subject))

    def _begin(self, day: int) -> None:
        self._count_sketches()
        self._day = day
        self._parts = self._spans.of_day(day)
        self._cuts_hours = any(first % 4 or end % 4 for first, end, _ in self._parts)

    def _figures(self, label: str | None, links: LinkValues, value: str | None = None) -> list[Figures]:
        """Where something of this part of the time, link and value counts."""
        found = [self._counted.total] if self._has_total else []
        if self._has_rows:
            found.append(self._counted.row(self._group(label, links, value)))
        return found

    def _group(self, label: str | None, links: LinkValues, value: str | None = None) -> Group:
        parts = (label, value, *links)
        return tuple(parts[slot] for slot in self._slots)

    def _add_quarters(self, counts: DayCounts, links: LinkValues) -> None:
        self.is_by_hour |= self._cuts_hours and counts.by_hour
        for first, end, label in self._parts:
            is_whole = (first, end) == (0, QUARTERS_OF_DAY)
            clicks = counts.clicks if is_whole else counts.clicks_between(first, end)
            if clicks:
                if self._has_total:
                    self._counted.total.clicks += clicks
                if self._has_rows:
                    self._counted.row(self._group(label, links)).clicks += clicks

    def _add_day(self, counts: DayCounts, links: LinkValues) -> None:
        """Add what is only known of the whole day: to the span that has its noon, if spans cut it."""
        noon = self._spans.of_noon(counts.day)
        if counts.day in self._cut.blocks or noon is None:
            return
        label = noon.label
        if self._dimension:
            for value, count in counts.values.get(self._dimension, {}).items():
                if self._only is None or value in self._only:
                    for each in self._figures(label, links, value):
                        each.clicks += count
        if Measure.NOT_COUNTED in self._needed and (reasons := counts.values.get(Dimension.REASON)):
            for each in self._figures(label, links):
                each.not_counted += sum(reasons.values())
        if Measure.VISITORS in self._needed and counts.visitors:
            if self._has_total:
                self._sketches[None].append(counts.visitors)
            if self._has_rows:
                self._sketches[self._group(label, links)].append(counts.visitors)

    def _count_sketches(self) -> None:
        for group, sketches in self._sketches.items():
            visitors = count_visitors(sketches[0] if len(sketches) == 1 else unite_sketches(sketches))
            (self._counted.total if group is None else self._counted.row(group)).visitors += visitors
        self._sketches.clear()

    def _add_blocks(self, day: int, blocks: Iterable[Columns]) -> None:
        """Add the clicks of a day that the spans cut, one by one."""
        seen: defaultdict[Group | None, set[int]] = defaultdict(set)
        for block in blocks:
            links = [self._links_of(each) for each in block.links]
            for row, at in enumerate(block.at):
                span = self._spans.at(at // _QUARTER_MS)
                values = links[block.link[row]]
                if span is not None and values is not None:
                    self._add_click(block, row, span.label, values, seen)
        for group, visitors in seen.items():
            (self._counted.total if group is None else self._counted.row(group)).visitors += len(visitors)

    def _add_click(
        self,
        block: Columns,
        row: int,
        label: str | None,
        links: LinkValues,
        seen: defaultdict[Group | None, set[int]],
    ) -> None:
        what = block.whats[block.what[row]]
        if what[1] is not None:
            if Measure.NOT_COUNTED in self._needed:
                for each in self._figures(label, links):
                    each.not_counted += 1
            return
        if self._breakdown:
            value = _value(block, row, self._breakdown)
            if self._only is None or value in self._only:
                for each in self._figures(label, links, value):
                    each.clicks += 1
        visitor = block.visitor[row]
        if Measure.VISITORS in self._needed and visitor is not None:
            if self._has_total:
                seen[None].add(visitor)
            if self._has_rows:
                seen[self._group(label, links)].add(visitor)


def group_slots(query: Query) -> list[int]:
    """For each field that is grouped by, its place in: label of the time, value, values of the link."""
    links = query.link_fields
    return [0 if each in TIMES else 2 + links.index(each) if each in links else 1 for each in query.group_by]


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


def _unpacked(packed: Iterable[bytes]) -> list[Columns]:
    """The blocks that can be read: a day that lacks one is counted as a whole."""
    blocks = []
    for each in packed:
        try:
            blocks.append(unpack(each))
        except UnreadableBlock:
            continue
    return blocks


def _value(block: Columns, row: int, breakdown: Field) -> str | None:
    match breakdown:
        case Field.COUNTRY:
            return block.countries[block.country[row]]
        case Field.REFERRER:
            return block.referrers[block.referrer[row]]
    what = block.whats[block.what[row]]
    return what[{Field.PLATFORM: 2, Field.SYSTEM: 3, Field.BROWSER: 4}[breakdown]]


def _notes(counting: _Counting, cut: _CutDays) -> list[str]:
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
