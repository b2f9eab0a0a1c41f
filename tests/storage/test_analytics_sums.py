"""Sums of links' clicks over many days, by their days or by their totals without the days outside."""

from __future__ import annotations

import random
from datetime import UTC, timedelta
from typing import Any

import pytest

from backend.domain.analytics_query import Field, Measure, Query
from backend.domain.query_period import QueryPeriod
from backend.storage import analytics_sums, click_counts
from backend.storage.analytics_answers import answer
from backend.storage.analytics_sums import sum_of_links
from backend.storage.day_counts import sum_clicks
from backend.storage.mongo import Database
from backend.storage.purge import purge_link
from backend.storage.rollups import SubjectId
from tests.storage.analytics_history import FIRST, History, make_history

DAYS = 12


async def random_history(database: Database) -> History:
    """Three links with clicks on a dozen days, one of them with few."""
    drawn = random.Random(7)
    links = drawn.choices((0, 1, 2), (5, 5, 1), k=120)
    at = [FIRST + timedelta(hours=drawn.randrange(24 * DAYS)) for _ in links]
    clicks = [(link, moment, {"reason": None}) for link, moment in zip(links, at, strict=True)]
    return await make_history(database, [{"utm_campaign": "spring"}, {}, {}], clicks, [])


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> list[range]:
    """Makes short periods worth a look at what lies outside; has the days whose outside was added up."""
    days: list[range] = []

    async def noted(*given: Any, **more: Any) -> dict[SubjectId, int]:
        if more.get("is_outside"):
            days.append(given[3])
        return await sum_clicks(*given, **more)

    monkeypatch.setattr(analytics_sums, "FEWEST_DAYS", 1)
    monkeypatch.setattr(analytics_sums, "sum_clicks", noted)
    return days


async def test_both_ways_give_the_same(database: Database, outside: list[range]) -> None:
    """Whatever days are asked for, and long ones are read by what lies outside of them."""
    history = await random_history(database)
    first = QueryPeriod(FIRST, FIRST + timedelta(days=1), UTC).spans(None).days[0]
    ids = [each.id for each in history.links]
    async with await database.client.start_session(snapshot=True) as session:
        for begin in range(-1, DAYS, 3):
            for end in range(begin + 1, DAYS + 2, 2):
                days = range(first + begin, first + end)
                by_day = await sum_clicks(database, click_counts.NAME, history.org_id, days, session=session)
                assert await sum_of_links(database, history.org_id, days, ids, session) == by_day
    assert outside
    assert all(len(days) > DAYS / 2 for days in outside)


async def test_links_that_are_gone_are_in_no_row(database: Database, outside: list[range]) -> None:
    """Their clicks are in the totals, and a note says so, whichever way is taken."""
    history = await random_history(database)
    query = Query(period=QueryPeriod(FIRST, FIRST + timedelta(days=DAYS), UTC), group_by=(Field.LINK,))
    before = {
        row.group[0]: row.values[Measure.CLICKS]
        for row in (await answer(database, history.org_id, query)).rows
    }
    gone = history.links[0].id
    await purge_link(database, gone, history.org_id, FIRST, even_with_clicks=True)
    found = await answer(database, history.org_id, query)
    lost = before.pop(gone)
    assert {row.group[0]: row.values[Measure.CLICKS] for row in found.rows} == before
    assert found.totals.values == {Measure.CLICKS: 120}
    assert any(note.startswith(f"{lost} clicks in the totals are in no row") for note in found.notes)
    assert len(outside) == 2
