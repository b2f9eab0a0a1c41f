"""Adds up clicks by the groups of a query of analytics: counts of days, and clicks of blocks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import cast

from backend.domain.analytics_answer import Counted, Figures, Group
from backend.domain.analytics_query import TIMES, Field, Measure, Query
from backend.domain.click_block import Columns
from backend.domain.ids import LinkId
from backend.domain.query_period import QUARTERS_OF_DAY, Spans
from backend.domain.rollup import QUARTER_SECONDS, Dimension
from backend.storage.analytics_links import LinkRows, LinkValues
from backend.storage.day_counts import DayCounts
from backend.storage.rollups import SubjectId
from backend.storage.visitor_sketches import count_visitors, unite_sketches

_QUARTER_MS = QUARTER_SECONDS * 1000
# The one row, of no values, of what is not counted by links.
_NO_LINKS: LinkRows = ((),)


class CutDays:
    """Days in UTC of which a span has only a part.

    `blocks` has the clicks of those that could be read; `whole` are those that could not.
    """

    def __init__(self, blocks: Mapping[int, list[Columns]] | None = None, whole: Sequence[int] = ()) -> None:
        self.blocks = blocks or {}
        self.whole = whole


class ClickCounting:
    """Adds up what is kept of days. Call `add` with one day after the other, and then `finish`."""

    def __init__(
        self,
        query: Query,
        spans: Spans,
        counted: Counted,
        cut: CutDays,
        rows: Mapping[LinkId, LinkRows] | None,
        *,
        has_rows: bool = True,
        has_total: bool = True,
    ) -> None:
        self._query = query
        self._spans = spans
        self._counted = counted
        self._cut = cut
        # What is counted may be the organization; to call LinkId for each would cost as much as the look-up.
        self._rows = cast(Mapping[SubjectId, LinkRows] | None, rows)
        self._has_rows = has_rows
        self._has_total = has_total
        self._needed = query.needed
        self._breakdown = query.breakdown
        self._dimension = Dimension(query.breakdown) if query.breakdown else None
        self._only = query.filters.get(query.breakdown) if query.breakdown else None
        self._has_unknown = query.breakdown is not Field.VARIANT
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
            if not links:
                continue
            if each.day != self._day:
                self._begin(each.day)
            if self._dimension is None and Measure.CLICKS in self._needed:
                self._add_quarters(each, links)
            if self._has_days:
                self._add_day(each, links)

    def add_sums(self, label: str | None, clicks: Mapping[SubjectId, int]) -> None:
        """Add clicks of links, or of the organization, in the span with this label."""
        of_rows: defaultdict[LinkRows, int] = defaultdict(int)
        for subject, count in clicks.items():
            if links := self._links_of(subject):
                of_rows[links] += count
        for links, count in of_rows.items():
            for each in self._figures(label, links):
                each.clicks += count

    def finish(self) -> None:
        """Add what could only be added at the end, and what is in cut days."""
        self._count_sketches()
        for day, blocks in self._cut.blocks.items():
            self._add_blocks(day, blocks)

    def _links_of(self, subject: SubjectId) -> LinkRows:
        """The rows that the link belongs to; none if it is not asked for."""
        return _NO_LINKS if self._rows is None else self._rows.get(subject, ())

    def _is_left(self, value: str | None) -> bool:
        """Whether what has this value counts: not what has no variant, as most clicks."""
        return (self._only is None or value in self._only) and (value is not None or self._has_unknown)

    def _begin(self, day: int) -> None:
        self._count_sketches()
        self._day = day
        self._parts = self._spans.of_day(day)
        self._cuts_hours = any(first % 4 or end % 4 for first, end, _ in self._parts)

    def _figures(self, label: str | None, links: LinkRows, value: str | None = None) -> list[Figures]:
        """Where something of this part of the time, link and value counts."""
        found = [self._counted.total] if self._has_total else []
        if self._has_rows:
            found += [self._counted.row(self._group(label, each, value)) for each in links]
        return found

    def _group(self, label: str | None, links: LinkValues, value: str | None = None) -> Group:
        parts = (label, value, *links)
        return tuple(parts[slot] for slot in self._slots)

    def _add_quarters(self, counts: DayCounts, links: LinkRows) -> None:
        self.is_by_hour |= self._cuts_hours and counts.by_hour
        for first, end, label in self._parts:
            is_whole = (first, end) == (0, QUARTERS_OF_DAY)
            clicks = counts.clicks if is_whole else counts.clicks_between(first, end)
            if clicks:
                if self._has_total:
                    self._counted.total.clicks += clicks
                for each in links if self._has_rows else ():
                    self._counted.row(self._group(label, each)).clicks += clicks

    def _add_day(self, counts: DayCounts, links: LinkRows) -> None:
        """Add what is only known of the whole day: to the span that has its noon, if spans cut it."""
        noon = self._spans.of_noon(counts.day)
        if counts.day in self._cut.blocks or noon is None:
            return
        label = noon.label
        if self._dimension:
            for value, count in counts.values.get(self._dimension, {}).items():
                if self._is_left(value):
                    for each in self._figures(label, links, value):
                        each.clicks += count
        if Measure.NOT_COUNTED in self._needed and (reasons := counts.values.get(Dimension.REASON)):
            for each in self._figures(label, links):
                each.not_counted += sum(reasons.values())
        if Measure.VISITORS in self._needed and counts.visitors:
            if self._has_total:
                self._sketches[None].append(counts.visitors)
            for row in links if self._has_rows else ():
                self._sketches[self._group(label, row)].append(counts.visitors)

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
        links = [self._links_of(each) for each in block.links] if self._rows is not None else [_NO_LINKS]
        link = block.link if self._rows is not None else [0] * len(quarter)
        is_asked = [each in labels and links[at] != () for each, at in zip(quarter, link, strict=True)]
        has_reason = [what[1] is not None for what in block.whats]
        is_click = [asked and not has_reason[each] for asked, each in zip(is_asked, block.what, strict=True)]
        of = [(name, links[at]) for name, at in zip(label, link, strict=True)]
        if Measure.NOT_COUNTED in self._needed:
            is_other = [asked and has_reason[each] for asked, each in zip(is_asked, block.what, strict=True)]
            for (name, values), count in Counter(compress(of, is_other)).items():
                for figures in self._figures(name, values):
                    figures.not_counted += count
        if self._breakdown:
            column, table = _column(block, self._breakdown)
            for (each, place), count in Counter(compress(zip(of, column, strict=True), is_click)).items():
                if self._is_left(table[place]):
                    for figures in self._figures(*each, table[place]):
                        figures.clicks += count
        if Measure.VISITORS in self._needed:
            self._add_seen(set(compress(zip(of, block.visitor, strict=True), is_click)), seen)

    def _add_seen(
        self,
        visits: Iterable[tuple[tuple[str | None, LinkRows], int | None]],
        seen: defaultdict[Group | None, set[int]],
    ) -> None:
        """Note who was there, by group and in all."""
        groups: dict[tuple[str | None, LinkRows], list[Group]] = {}
        for of, visitor in visits:
            if visitor is None:
                continue
            if self._has_total:
                seen[None].add(visitor)
            if self._has_rows:
                found = groups.get(of)
                if found is None:
                    label, links = of
                    found = groups[of] = [self._group(label, each) for each in links]
                for group in found:
                    seen[group].add(visitor)


def group_slots(query: Query) -> list[int]:
    """For each field that is grouped by, its place in: label of the time, value, values of the link."""
    links = query.link_fields
    return [0 if each in TIMES else 2 + links.index(each) if each in links else 1 for each in query.group_by]


def _column(block: Columns, breakdown: Field) -> tuple[Sequence[int], Sequence[str | None]]:
    """The block's column of this field, and the table that it refers to."""
    match breakdown:
        case Field.COUNTRY:
            return block.country, block.countries
        case Field.REFERRER:
            return block.referrer, block.referrers
        case Field.VARIANT:
            return block.variant, block.variants
    place = {Field.PLATFORM: 2, Field.SYSTEM: 3, Field.BROWSER: 4}[breakdown]
    return block.what, [what[place] for what in block.whats]
