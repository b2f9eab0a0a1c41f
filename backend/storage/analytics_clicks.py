"""Counts the clicks that a query of analytics asks for, out of the rollups of days.

Clicks are kept by quarter of an hour. What clicks were, who clicked, and what did not count are kept by days
in UTC. Where the time zone cuts such a day, its clicks are read from blocks, as long as they are not too many
and still there; else the whole day counts where its noon is, and a note says so.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import compress

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.analytics_answer import Counted, Figures, Group
from backend.domain.analytics_query import LINK_FIELDS, TIMES, Field, Measure, Query
from backend.domain.click_block import DAY_MS, Columns, UnreadableBlock, unpack
from backend.domain.ids import LinkId
from backend.domain.query_period import QUARTERS_OF_DAY, Spans
from backend.domain.rollup import QUARTER_SECONDS, Dimension
from backend.storage import click_blocks, click_counts, organization_counts
from backend.storage.analytics_links import LinkValues, read_link_values
from backend.storage.analytics_reading import Reading
from backend.storage.day_counts import DayCounts, DayPart, read_day_counts, sum_clicks
from backend.storage.rollups import Rollups
from backend.storage.visitor_sketches import count_visitors, unite_sketches

# Clicks that are read from blocks for days that a time zone cuts.
MOST_CUT_CLICKS = 50_000
# Documents of days that are read by their ids; for more, all of the organization's are looked at.
_MOST_BY_ID = 20_000
# Where spans have as many days or more, MongoDB adds up the clicks of each.
_DAYS_TO_SUM = 5
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
        if subjects is None and self._can_be_summed:
            await self._sum_links(counting)
        else:
            await self._read(counting, click_counts.ROLLUPS, subjects)

    @property
    def _can_be_summed(self) -> bool:
        """Whether only clicks are asked for, of spans that have several days each."""
        has_days = len(self._spans.days) >= _DAYS_TO_SUM * len(self._spans)
        return has_days and self._parts == [DayPart.QUARTERS]

    async def _sum_links(self, counting: _Counting) -> None:
        """Count the clicks of links: whole days in sums, and days that the spans cut by quarters."""
        for span in self._spans:
            if days := span.whole_days:
                name = click_counts.ROLLUPS.collection
                sums = await sum_clicks(self._database, name, self._org_id, days, self._session)
                await beside_the_loop(partial(counting.add_sums, span.label, sums))
        for days in _runs([each for each in self._spans.days if self._spans.is_cut(each)]):
            await self._read(counting, click_counts.ROLLUPS, None, days)

    async def _read(
        self,
        counting: _Counting,
        rollups: Rollups,
        subjects: Sequence[str] | None,
        days: range | None = None,
    ) -> None:
        async for counts in self._day_counts(rollups, self._parts, subjects, days):
            await beside_the_loop(partial(counting.add, counts))
        await beside_the_loop(counting.finish)

    def _day_counts(
        self,
        rollups: Rollups,
        parts: Iterable[DayPart | Dimension],
        subjects: Sequence[str] | None,
        days: range | None = None,
    ) -> AsyncIterator[list[DayCounts]]:
        """What is counted on these days, or on all of the spans. Without subjects, of all that there are."""
        return read_day_counts(
            self._database,
            rollups.collection,
            self._org_id,
            days or self._spans.days,
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
        blocks: defaultdict[int, list[Columns]] = defaultdict(list)
        for run in _runs(sorted(found)):
            for day, block in await self._blocks_of(run):
                blocks[day].append(block)
        is_there = {day: sum(len(each.at) for each in blocks[day]) == count for day, count in found.items()}
        return _CutDays(
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

    def add_sums(self, label: str | None, clicks: Mapping[LinkId, int]) -> None:
        """Add clicks of links in the span with this label."""
        for link_id, count in clicks.items():
            if (links := self._links_of(link_id)) is not None:
                for each in self._figures(label, links):
                    each.clicks += count

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
        """Add the clicks of a day that the spans cut."""
        parts = self._spans.of_day(day)
        labels: dict[int, str | None] = {}  # by the quarter, from 1970
        for first, end, label in parts:
            labels |= dict.fromkeys(range(day * QUARTERS_OF_DAY + first, day * QUARTERS_OF_DAY + end), label)
        seen: defaultdict[Group | None, set[int]] = defaultdict(set)
        for block in blocks:
            self._add_block(block, labels, seen)
        for group, visitors in seen.items():
            (self._counted.total if group is None else self._counted.row(group)).visitors += len(visitors)

    def _add_block(
        self, block: Columns, labels: Mapping[int, str | None], seen: defaultdict[Group | None, set[int]]
    ) -> None:
        """Add the clicks of a block in these quarters, those together that nothing tells apart."""
        # By column, since looking at each click takes several times as long.
        quarter = [at // _QUARTER_MS for at in block.at]
        label = [labels.get(each) for each in quarter]
        links = [self._links_of(each) for each in block.links] if self._values is not None else [()]
        link = block.link if self._values is not None else [0] * len(quarter)
        is_asked = [each in labels and links[at] is not None for each, at in zip(quarter, link, strict=True)]
        has_reason = [what[1] is not None for what in block.whats]
        is_click = [asked and not has_reason[each] for asked, each in zip(is_asked, block.what, strict=True)]
        of = [(name, links[at] or ()) for name, at in zip(label, link, strict=True)]
        if Measure.NOT_COUNTED in self._needed:
            is_other = [asked and has_reason[each] for asked, each in zip(is_asked, block.what, strict=True)]
            for (name, values), count in Counter(compress(of, is_other)).items():
                for figures in self._figures(name, values):
                    figures.not_counted += count
        if self._breakdown:
            column, table = _column(block, self._breakdown)
            for (each, place), count in Counter(compress(zip(of, column, strict=True), is_click)).items():
                if self._only is None or table[place] in self._only:
                    for figures in self._figures(*each, table[place]):
                        figures.clicks += count
        if Measure.VISITORS in self._needed:
            self._add_seen(set(compress(zip(of, block.visitor, strict=True), is_click)), seen)

    def _add_seen(
        self,
        visits: Iterable[tuple[tuple[str | None, LinkValues], int | None]],
        seen: defaultdict[Group | None, set[int]],
    ) -> None:
        """Note who was there, by group and in all."""
        groups: dict[tuple[str | None, LinkValues], Group] = {}
        for of, visitor in visits:
            if visitor is None:
                continue
            if self._has_total:
                seen[None].add(visitor)
            if self._has_rows:
                group = groups.get(of)
                if group is None:
                    group = groups[of] = self._group(*of)
                seen[group].add(visitor)


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


def _column(block: Columns, breakdown: Field) -> tuple[Sequence[int], Sequence[str | None]]:
    """The block's column of this field, and the table that it refers to."""
    match breakdown:
        case Field.COUNTRY:
            return block.country, block.countries
        case Field.REFERRER:
            return block.referrer, block.referrers
    place = {Field.PLATFORM: 2, Field.SYSTEM: 3, Field.BROWSER: 4}[breakdown]
    return block.what, [what[place] for what in block.whats]


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
