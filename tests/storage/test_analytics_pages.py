"""Pages in the order of time, which are read day by day, say what the whole answer says."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, timedelta
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from backend.domain.analytics_answer import AnalyticsAnswer
from backend.domain.analytics_query import Field, Measure, Order, Query
from backend.domain.errors import InvalidField
from backend.domain.query_period import QueryPeriod
from backend.storage import analytics_clicks, analytics_links, analytics_pages
from backend.storage.analytics_answers import answer, answers
from backend.storage.mongo import Database
from backend.storage.purge import purge_link
from tests.storage.analytics_history import FIRST, History, make_history
from tests.storage.test_analytics_answers import FACTS, INSTALLS, MOMENTS, SALES, queries

MEASURES = (Measure.CLICKS, Measure.CONVERSIONS, Measure.REVENUE, Measure.CONVERSION_RATE, Measure.INSTALLS)
TIMES = (Field.DAY, Field.WEEK, Field.MONTH)
FILTERS = st.sampled_from(
    [{}, {}, {Field.CAMPAIGN: frozenset({None, "spring"})}, {Field.TAG: frozenset({None, "mail"})}]
)
TEN_DAYS = QueryPeriod(FIRST, FIRST + timedelta(days=10), UTC)


@st.composite
def paged(draw: Any) -> Query:
    """Clicks of links, by day, week or month, in any zone and period, oldest or latest first."""
    time = draw(st.sampled_from(TIMES))
    other = draw(st.sampled_from([Field.LINK, Field.CAMPAIGN, Field.TAG]))
    return Query(
        period=draw(queries())["period"],
        measures=draw(st.sampled_from([MEASURES, MEASURES[:1], MEASURES[3:]])),
        group_by=draw(st.sampled_from([(time, other), (other, time)])),
        filters=draw(FILTERS),
        order=draw(st.none() | st.builds(Order, st.just(time), is_descending=st.booleans())),
        limit=draw(st.integers(1, 7)),
    )


async def all_pages(database: Database, history: History, query: Query) -> list[AnalyticsAnswer]:
    """The answers of all pages, each by the cursor of the one before."""
    pages = [await answer(database, history.org_id, query)]
    while cursor := pages[-1].next_cursor:
        pages.append(await answer(database, history.org_id, replace(query, cursor=cursor)))
    return pages


@settings(max_examples=6, phases=[Phase.generate])
@given(
    clicks=st.lists(st.tuples(st.integers(0, 2), MOMENTS, FACTS), max_size=40),
    sales=st.lists(SALES | INSTALLS, max_size=8),
    asked=st.lists(paged(), min_size=8, max_size=8),
)
async def test_pages_together_equal_the_whole(
    database: Database, clicks: Any, sales: Any, asked: list[Query]
) -> None:
    """Each row once and in order, and with each page the totals and notes of all rows."""
    utms = [{"utm_campaign": "spring"}, {"utm_campaign": "summer"}, {}]
    history = await make_history(database, utms, clicks, sales, {0: ["mail", "spring"]})
    for query in asked:
        assert query.is_read_by_page
        whole = await answer(database, history.org_id, query, is_whole=True)
        pages = await all_pages(database, history, query)
        assert [row for page in pages for row in page.rows] == list(whole.rows)
        for page in pages:
            assert page.totals == whole.totals
            assert set(page.notes) == set(whole.notes)


async def ten_days(database: Database) -> History:
    """Two links of one campaign with a click each on ten days."""
    clicks = [(link, FIRST + timedelta(days=day), {"reason": None}) for day in range(10) for link in (0, 1)]
    return await make_history(database, [{"utm_campaign": "spring"}, {}], clicks, [])


async def test_a_page_reads_its_own_days(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of a long period, and one in its midst, leave out the days before and behind."""
    history = await ten_days(database)
    read: list[int] = []
    count = analytics_pages.count_parts

    async def noted(asked: Any, counted: Any) -> None:
        read.extend(asked.spans.days if asked.query.group_by else [])
        await count(asked, counted)

    monkeypatch.setattr(analytics_pages, "count_parts", noted)
    query = Query(period=TEN_DAYS, group_by=(Field.DAY, Field.CAMPAIGN), limit=2)
    first, second, *_ = await all_pages(database, history, query)
    assert [row.group[0] for row in second.rows] == ["2025-09-26"] * 2
    days = list(TEN_DAYS.spans(None).days)
    read.clear()
    await answer(database, history.org_id, query)
    assert read == days[:3]
    read.clear()
    await answer(database, history.org_id, replace(query, cursor=second.next_cursor))
    assert read == days[2:5]
    assert first.rows_in_all is first.rows_left_out is None


async def test_clicks_of_purged_links_are_told_with_each_page(database: Database) -> None:
    """How many of the whole period are in no row, though a page reads few of its days."""
    history = await ten_days(database)
    await purge_link(database, history.links[0].id, history.org_id, FIRST, even_with_clicks=True)
    query = Query(period=TEN_DAYS, group_by=(Field.DAY, Field.LINK), limit=4)
    for page in await all_pages(database, history, query):
        assert page.totals.values == {Measure.CLICKS: 20}
        assert any(note.startswith("10 clicks in the totals are in no row") for note in page.notes)


async def test_a_cursor_of_no_day_of_the_period_is_refused(database: Database) -> None:
    """Also where all else of it is right; and one with a day is no cursor of a query that needs all rows."""
    history = await ten_days(database)
    by_day = Query(period=TEN_DAYS, group_by=(Field.DAY, Field.LINK), limit=4)
    by_clicks = replace(by_day, order=Order(Measure.CLICKS))
    days: list[Any] = ["2024-01-01", 7, ["2025-09-26"]]
    for query, wrong in (*((by_day, each) for each in days), (by_clicks, "2025-09-26")):
        given = (await answer(database, history.org_id, query)).next_cursor or ""
        mark, *_ = json.loads(base64.urlsafe_b64decode(given + "=="))
        forged = base64.urlsafe_b64encode(json.dumps([mark, 1, wrong]).encode()).decode()
        with pytest.raises(InvalidField, match="cursor"):
            await answer(database, history.org_id, replace(query, cursor=forged))


async def test_several_queries_read_what_they_share_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a page shows by campaign, by link and of countries is what each query says alone."""
    history = await ten_days(database)
    cut = QueryPeriod(TEN_DAYS.start, TEN_DAYS.end - timedelta(hours=13), UTC)
    measures = (Measure.CLICKS, Measure.CONVERSIONS)
    queries = [
        Query(period=cut, group_by=(Field.CAMPAIGN,), measures=measures),
        Query(period=cut, group_by=(Field.LINK,)),
        Query(period=cut, group_by=(Field.DAY,), measures=(Measure.VISITORS,)),
        Query(period=cut, group_by=(Field.COUNTRY,)),
    ]
    alone = [await answer(database, history.org_id, each) for each in queries]
    read: list[str] = []
    monkeypatch.setattr(analytics_links, "_read_facts", _noted(analytics_links._read_facts, read))
    for name in ("sum_of_links", "sum_clicks", "_unpacked"):
        monkeypatch.setattr(analytics_clicks, name, _noted(getattr(analytics_clicks, name), read))
    assert await answers(database, history.org_id, queries) == alone
    assert Counter(read) == {"_read_facts": 1, "sum_of_links": 1, "sum_clicks": 1, "_unpacked": 1}


def _noted(work: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """The same function, which notes its name each time that it is called."""

    def noted(*given: Any, **more: Any) -> Any:
        names.append(work.__name__)
        return work(*given, **more)

    return noted
