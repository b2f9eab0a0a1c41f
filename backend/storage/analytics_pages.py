"""Counts only what a page of an answer shows, where rows are in the order of time (`Query.is_read_by_page`).

A year by day and campaign has tens of thousands of rows, and its first page a few days of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from backend.domain.analytics_answer import Counted, PageStart, difference, no_cursor, page_start
from backend.domain.analytics_query import LINK_FIELDS, Field, Measure, Query
from backend.domain.query_period import Span, Spans
from backend.storage import click_counts, organization_counts
from backend.storage.analytics_clicks import count_clicks
from backend.storage.analytics_links import read_link_rows
from backend.storage.analytics_reading import Reading
from backend.storage.analytics_sales import count_installs, count_sales

# Links whose totals are added up by their ids: for each day of the period, as its counts would be read else.
_TOTALS_OF_A_DAY = 1_000
_MOST_TOTALS = 100_000
# By what clicks are counted to know how many are in no row: it has few rows.
MISSING_BY = Field.DOMAIN


async def count_parts(asked: Reading, counted: Counted) -> None:
    """Add clicks, sales and installs."""
    await count_clicks(asked, counted)
    await count_sales(asked, counted)
    await count_installs(asked, counted)


async def count_page(asked: Reading) -> tuple[Counted, int]:
    """The totals, all rows of the parts of the time that the page lies in, and one row more if there is one.

    Also: how many clicks the totals have more than all rows of all pages. Raises InvalidField for a cursor
    that belongs to another query.
    """
    query = asked.query
    start = page_start(query)
    rows = Counted()
    for spans in _runs(_from(asked.spans, start, is_reversed=query.sorting.is_descending)):
        await count_parts(replace(asked, spans=spans, has_total=False), rows)
        if len(rows.rows) > start.position + query.limit:
            break
    total = Counted()
    await count_clicks(_ungrouped(asked, ()), total)
    # By links, as rows of all pages are told of by their kinds.
    by_link = _ungrouped(asked, tuple(each for each in query.group_by if each in LINK_FIELDS))
    await count_sales(by_link, total)
    await count_installs(by_link, total)
    notes = list(dict.fromkeys((*rows.notes, *total.notes)))
    return Counted(rows.rows, total.total, notes, total.left_out, total.kinds), await _missing(asked)


def _from(spans: Spans, start: PageStart, *, is_reversed: bool) -> Sequence[Span]:
    """The spans that the page and those behind it lie in, in the order of rows."""
    ordered = list(reversed(spans) if is_reversed else spans)
    if start.label is None:
        return ordered
    labels = [each.label for each in ordered]
    if start.label not in labels:
        raise no_cursor()
    return ordered[labels.index(start.label) :]


def _runs(ordered: Sequence[Span]) -> Iterator[Spans]:
    """One span, the next two, four and so on, each time in the order of time."""
    begin, size = 0, 1
    while begin < len(ordered):
        yield Spans(sorted(ordered[begin : begin + size], key=lambda span: span.first))
        begin, size = begin + size, 2 * size


def _ungrouped(asked: Reading, fields: tuple[Field, ...]) -> Reading:
    """The reading of the period as a whole, by these fields only."""
    query: Query = replace(asked.query, group_by=fields, order=None, cursor=None)
    return replace(asked, query=query, spans=query.period.spans(None))


async def _missing(asked: Reading) -> int:
    """How many clicks the totals have more than the rows: those of links that were deleted for good."""
    query = asked.query
    if Measure.CLICKS not in query.measures or Field.TAG in query.group_by:
        return 0  # nobody is told, or it can't be
    if not LINK_FIELDS.isdisjoint(query.filters):
        return 0  # totals are counted by links as well
    if await _has_all_clicks(asked):
        return 0
    counted = Counted()
    await count_clicks(_ungrouped(asked, (MISSING_BY,)), counted)
    return difference(counted, [Measure.CLICKS])[Measure.CLICKS]


async def _has_all_clicks(asked: Reading) -> bool:
    """Whether links are few enough for the period to look, and have all clicks it ever had."""
    links = await read_link_rows(asked, asked.query.filters)
    if len(links) > min(_MOST_TOTALS, _TOTALS_OF_A_DAY * len(asked.spans.days)):
        return False
    database, org_id = asked.database, asked.org_id
    of_links = await click_counts.sum_totals(database, list(links), org_id, asked.session)
    return of_links == await organization_counts.ROLLUPS.sum_totals(database, [org_id], asked.session)
