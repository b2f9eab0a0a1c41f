"""Answers queries of analytics (docs/decisions/analytics-query.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.analytics_answer import AnalyticsAnswer, Counted, Figures, difference, put_together
from backend.domain.analytics_notes import notes_on, notes_on_time
from backend.domain.analytics_query import SALES, Field, Measure, Query
from backend.domain.ids import LinkId, OrgId
from backend.domain.links import Link
from backend.storage import click_counts
from backend.storage.analytics_pages import MISSING_BY, count_page, count_parts
from backend.storage.analytics_reading import Reading, Shared
from backend.storage.day_counts import sum_clicks
from backend.storage.deadlines import deadline
from backend.storage.link_deltas import waiting_clicks_of, with_deltas
from backend.storage.links import find_links
from backend.storage.mongo import Database
from backend.storage.organizations import find_retention_days
from backend.storage.variant_chances import add_chances

_PATIENCE = 20.0  # seconds
_LONGEST_PATIENCE = 60.0  # where credit is not what records keep, so that devices are read for it
_LINKS_AT_ONCE = 10_000
# What is counted from records that an organization's retention deletes.
_EXPIRING = SALES | {Measure.INSTALLS}


async def answer(
    database: Database, org_id: OrgId, query: Query, *, is_whole: bool = False
) -> AnalyticsAnswer:
    """What the organization's analytics say to the query: one page of rows, or all rows if it `is_whole`.

    Everything is read as it was at one moment. Raises InvalidField where there would be too many rows and for
    a cursor of another query, and StorageError, also after twenty seconds, or sixty where credit has to be
    looked up.
    """
    [found] = await answers(database, org_id, [query], is_whole=is_whole)
    return found


async def answers(
    database: Database, org_id: OrgId, queries: Sequence[Query], *, is_whole: bool = False
) -> list[AnalyticsAnswer]:
    """As `answer`, for several queries as of one moment. What more than one of them needs is read once."""
    fields = {each for query in queries for each in query.link_fields}
    if any(each.is_read_by_page for each in queries):
        fields.add(MISSING_BY)
    shared = Shared(frozenset(fields))
    async with await database.client.start_session(snapshot=True) as session:
        found = []
        for query in queries:
            with deadline(_PATIENCE if query.rules.are_kept else _LONGEST_PATIENCE):
                spans = query.period.spans(query.time_field)
                asked = Reading(database, org_id, query, spans, session, shared=shared)
                found.append(await _answer(asked, is_whole=is_whole))
        return found


async def _answer(asked: Reading, *, is_whole: bool) -> AnalyticsAnswer:
    query = asked.query
    by_page = query.is_read_by_page and not is_whole
    counted = await (_count_page(asked) if by_page else _count(asked))
    previous = None
    if query.compare:
        spans = query.period.compared_spans(query.time_field, query.compare)
        previous = _without_left_over(query, await _count(replace(asked, spans=spans)))
    counted.notes += notes_on_time(query)
    together = partial(put_together, query, counted, previous, is_whole=is_whole)
    found = await beside_the_loop(together)
    return replace(found, links=await _links_of(asked.database, asked.org_id, found))


def _without_left_over(query: Query, previous: Counted) -> Counted:
    """Without rows of the time that no part of the query's period is compared with."""
    if query.time_field:
        at = query.group_by.index(Field(query.time_field))
        previous.rows = {group: each for group, each in previous.rows.items() if group[at] is not None}
    return previous


async def count_by_link(database: Database, org_id: OrgId, query: Query) -> dict[LinkId, Figures]:
    """What was counted of each link that something is counted for. `query` groups by nothing but links.

    For many links: it puts no rows together, in no order. Raises InvalidField and StorageError, as `answer`.
    """
    with deadline(_PATIENCE):
        async with await database.client.start_session(snapshot=True) as session:
            counted = await _count(Reading(database, org_id, query, query.period.spans(None), session))
    return {LinkId(of): figures for (of, *_), figures in counted.rows.items() if of is not None}


async def clicks_of_links(database: Database, org_id: OrgId, days: range) -> dict[LinkId, int]:
    """The clicks of each of the organization's links on these days in UTC, of those that have any.

    Days are counted from 1970. Links that were deleted for good may be among them. Raises StorageError.
    """
    with deadline(_PATIENCE):
        async with with_deltas(database, {"org_id": org_id}) as (session, deltas):
            clicks = await waiting_clicks_of([each for each in deltas if each.day in days])
            stored = await sum_clicks(database, click_counts.NAME, org_id, days, session=session)
        for link_id, count in stored.items():
            clicks[LinkId(link_id)] += count
    return dict(clicks)


async def _count(asked: Reading) -> Counted:
    counted, query = Counted(), asked.query
    if query.time_field and len(query.group_by) == 1:  # also what nothing happened in
        for label in asked.spans.labels:
            counted.row((label,))
    elif not query.group_by:
        counted.row(())
    await count_parts(asked, counted)
    if Measure.CHANCE_OF_BEST in query.measures:
        await beside_the_loop(partial(add_chances, query, counted))
    plain = [each for each in (Measure.CLICKS, Measure.NOT_COUNTED) if each in query.measures]
    counted.notes += notes_on(query, counted, difference(counted, plain)) + await _retention_notes(asked)
    return counted


async def _count_page(asked: Reading) -> Counted:
    counted, missing = await count_page(asked)
    of_clicks = {Measure.CLICKS: missing} if Measure.CLICKS in asked.query.measures else {}
    counted.notes += notes_on(asked.query, counted, of_clicks) + await _retention_notes(asked)
    return counted


async def _retention_notes(asked: Reading) -> list[str]:
    if not asked.query.needed & _EXPIRING:
        return []
    days = (await find_retention_days(asked.database, [asked.org_id])).get(asked.org_id)
    if days is None:
        return []
    return [f"Leads, conversions and installs are deleted after {days} days: older ones are in no figure."]


async def _links_of(database: Database, org_id: OrgId, found: AnalyticsAnswer) -> dict[LinkId, Link]:
    """The links that the answer's rows are of."""
    if Field.LINK not in found.query.group_by:
        return {}
    at = found.query.group_by.index(Field.LINK)
    ids = list({LinkId(link_id) for row in found.rows if (link_id := row.group[at]) is not None})
    known: dict[LinkId, Link] = {}
    for begin in range(0, len(ids), _LINKS_AT_ONCE):
        known |= await find_links(database, ids[begin : begin + _LINKS_AT_ONCE], org_id)
    return known
