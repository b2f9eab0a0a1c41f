"""Adds up the clicks of links over many days.

A year of an organization has a document for each link and day. Where most of what was ever counted lies in
the days that are asked for, the links' totals without what lies outside are the same, in far fewer documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.domain.analytics import day_of
from backend.domain.ids import LinkId, OrgId
from backend.storage import click_counts, organization_counts
from backend.storage.day_counts import sum_clicks
from backend.storage.mongo import ClientSession, Database
from backend.storage.rollups import SubjectId, bucket_of_day

# Shorter periods are not worth the look at what lies outside.
FEWEST_DAYS = 60
_TOTALS_AT_ONCE = 10_000


async def sum_of_links(
    database: Database, org_id: OrgId, days: range, link_ids: Sequence[LinkId], session: ClientSession
) -> Mapping[SubjectId, int]:
    """The clicks of the organization's links on these days in UTC, of those that have any.

    These links are among them, and maybe others. `session` shows one moment: else clicks that are counted
    meanwhile could be in one part only.
    """
    name = click_counts.NAME
    if len(days) < FEWEST_DAYS or not await _is_less_outside(database, org_id, days, len(link_ids), session):
        return await sum_clicks(database, name, org_id, days, session=session)
    outside = await sum_clicks(database, name, org_id, days, is_outside=True, session=session)
    sums: dict[SubjectId, int] = {}
    for start in range(0, len(link_ids), _TOTALS_AT_ONCE):
        some = link_ids[start : start + _TOTALS_AT_ONCE]
        for link_id, total in (await click_counts.ROLLUPS.read_totals(database, some, session)).items():
            if clicks := total - outside.get(link_id, 0):
                sums[link_id] = clicks
    return sums


async def _is_less_outside(
    database: Database, org_id: OrgId, days: range, links: int, session: ClientSession
) -> bool:
    """Whether the totals of so many links, and the counts of all other days, are less to read than those.

    A day has about as many documents as links were clicked: at most as many as it has clicks.
    """
    first, last = (day_of(bucket_of_day(each)) or "" for each in (days[0], days[-1]))
    found = await organization_counts.clicks_by_day(database, org_id, session)
    inside = sum(min(clicks, links) for day, clicks in found.items() if first <= day <= last)
    outside = sum(min(clicks, links) for day, clicks in found.items() if not first <= day <= last)
    return links + outside < inside / 2
