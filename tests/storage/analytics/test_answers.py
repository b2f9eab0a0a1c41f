"""Answers to queries of analytics equal a naive count over all that was recorded."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from backend.domain.analytics.answer import AnalyticsAnswer, Row
from backend.domain.analytics.measures import Measure, MeasureKind
from backend.domain.analytics.period import Comparison, QueryPeriod
from backend.domain.analytics.query import Field, Order, Query
from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.purge import purge_link
from backend.storage.links.tags import change_tag
from tests.examples import examples
from tests.storage.analytics.analytics_history import FIRST, History, Sale, assert_equal, make_history

# With daylight saving time, without; with offsets of a half and of a quarter of an hour; far from UTC.
ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns",
    "Pacific/Kiritimati", "Pacific/Chatham", "Africa/Casablanca",
)  # fmt: skip
# About the end of daylight saving time in Europe, and its beginning at Lord Howe Island and in Chatham.
DAYS = 45

FACTS = st.fixed_dictionaries(
    {
        "reason": st.none() | st.none() | st.sampled_from(["head", "prefetch"]),
        "platform": st.sampled_from(["ios", "desktop"]),
        "system": st.sampled_from(["", "iOS", "Windows 11.2"]),
        "browser": st.sampled_from(["", "$Chrome", "a.b%c"]),
        "country": st.none() | st.sampled_from(["DE", "FR"]),
        "visitor": st.none() | st.integers(0, 5),
        "referrer_host": st.none() | st.sampled_from(["t.co", "news.example"]),
        "variant": st.none() | st.sampled_from(["A", "mail"]),
    }
)
# Around changes of clocks in Chatham, at Lord Howe Island, in Europe and in America; in order.
CALENDAR = [date(2025, 9, 26 + day) for day in range(3)]
CALENDAR += [date(2025, 10, day) for day in (1, 4, 5, 6, 25, 26, 27)]
CALENDAR += [date(2025, 11, day) for day in (1, 2, 3)]


def midnight(day: date, zone: str) -> datetime:
    """When the day begins in the zone."""
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)


# Most at the edges of days in some zone, to the millisecond: there mistakes are made.
EDGES = st.builds(
    lambda day, zone, shift: midnight(day, zone) + shift,
    st.sampled_from(CALENDAR),
    st.sampled_from(ZONES),
    st.sampled_from([timedelta(milliseconds=offset) for offset in (-1, 0, 0, 1, 900_000, -900_000)]),
)
MOMENTS = (
    EDGES
    | EDGES
    | st.builds(
        lambda day, second: midnight(day, "UTC") + timedelta(seconds=second),
        st.sampled_from(CALENDAR),
        st.integers(0, 24 * 3600 - 1),
    )
)
NAMES = st.none() | st.sampled_from(["spring", "summer"])
UTM = st.fixed_dictionaries({}, optional={"utm_campaign": st.just("spring"), "utm_source": st.just("ads")})


def in_decimals(sale: Sale) -> Sale:
    """The sale with amounts as they are stored: those in yen are whole."""
    if sale.currency != "JPY":
        return sale
    return replace(sale, revenue=sale.revenue * 100, refunds=tuple(refund * 100 for refund in sale.refunds))


SALES = st.builds(
    Sale,
    collection=st.sampled_from(["leads", "conversions"]),
    at=MOMENTS,
    link_id=st.none() | st.sampled_from(["0", "1", "2", "gone"]),
    utm=UTM,
    customer_id=st.none() | st.sampled_from(["ada", "bob"]),
    currency=st.sampled_from(["EUR", "JPY"]),
    revenue=st.integers(10, 50).map(lambda cents: Decimal(cents) / 100),
    refunds=st.lists(st.integers(1, 5).map(lambda cents: Decimal(cents) / 100), max_size=2).map(tuple),
    variant=st.none() | st.sampled_from(["A", "mail"]),
    is_credited=st.booleans(),
).map(
    lambda sale: in_decimals(sale if sale.is_credited else replace(sale, link_id=None, utm={}, variant=None))
)
INSTALLS = st.builds(
    Sale,
    collection=st.just("installs"),
    at=MOMENTS,
    link_id=st.none() | st.sampled_from(["0", "1"]),
    utm=st.just({}),
)


# Costs, and what is made of others by rules: each has tests of its own.
UNCOUNTED = {
    Measure.REVENUE_PER_CLICK,
    Measure.CHANCE_OF_BEST,
    *(measure for measure in Measure if measure.kind is MeasureKind.COSTS),
}
COUNTED = tuple(measure for measure in Measure if measure not in UNCOUNTED)


@st.composite
def queries(draw: Callable[[Any], Any]) -> dict[str, Any]:
    """Whatever can be asked, in any zone and period."""
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    if draw(st.integers(0, 3)):  # days of the zone
        days = sorted(draw(st.lists(st.sampled_from(CALENDAR), min_size=2, max_size=2, unique=True)))
        start, stop = (midnight(day, zone.key) for day in days)
    else:
        quarters = st.integers(0, 4 * 24 * DAYS)
        begin, end = sorted(draw(st.lists(quarters, min_size=2, max_size=2, unique=True)))
        start, stop = (FIRST + timedelta(minutes=15 * quarter) for quarter in (begin, end))
    return {
        "period": QueryPeriod(start, stop, zone),
        "measures": tuple(draw(st.lists(st.sampled_from(COUNTED), min_size=1, max_size=4, unique=True))),
        "group_by": tuple(draw(st.lists(st.sampled_from(Field), max_size=4, unique=True))),
        "compare": draw(st.none() | st.sampled_from(Comparison)),
        "currency": draw(st.none() | st.sampled_from(["EUR", "JPY"])),
        "filters": draw(
            st.dictionaries(
                st.sampled_from([Field.CAMPAIGN, Field.COUNTRY, Field.DOMAIN, Field.TAG, Field.VARIANT]),
                st.frozensets(st.sampled_from([None, "spring", "DE", "d0.example", "mail"]), min_size=1),
                max_size=2,
            )
        ),
        "limit": 10_000,
    }


async def ask(
    analytics: Analytics, org_id: OrgId, query: Query, *, is_whole: bool = False
) -> AnalyticsAnswer:
    """The answer of the process that has the organization's facts."""
    return await analytics.ask(org_id, AskQuery(query, is_whole))


@settings(max_examples=examples(2), phases=[Phase.generate])
@given(
    utms=st.lists(
        st.builds(dict, utm_campaign=st.sampled_from(["spring", "summer"])) | st.just({}),
        min_size=3,
        max_size=3,
    ),
    clicks=st.lists(st.tuples(st.integers(0, 2), MOMENTS, FACTS), max_size=60),
    sales=st.lists(SALES | INSTALLS, max_size=12),
    asked=st.lists(queries(), min_size=12, max_size=12),
    tags=st.dictionaries(
        st.integers(0, 2), st.lists(st.sampled_from(["mail", "spring", "gone"]), unique=True)
    ),
)
async def test_figures_equal_a_naive_count(
    analytics: Analytics,
    database: Database,
    utms: Any,
    clicks: Any,
    sales: Any,
    asked: list[dict[str, Any]],
    tags: Any,
) -> None:
    """For any clicks, sales, tags, zone, period, grouping and filter."""
    history = await make_history(database, utms, clicks, sales, tags)
    questions = []
    for fields in asked:
        with suppress(InvalidField):  # such as two parts of the time
            questions.append(AskQuery(Query(**fields)))
    for found in await analytics.ask_all(history.org_id, questions):
        assert_equal(found, history)


async def small_history(database: Database, **facts: Any) -> History:
    """Two links: one of the campaign spring with three clicks on three days, one without with one click."""
    usual = {"reason": None, "country": "DE", "visitor": 1} | facts
    at = [FIRST + timedelta(days=day, hours=12) for day in (0, 1, 2)]
    clicks = [(0, at[0], usual), (0, at[1], usual), (0, at[2], usual), (1, at[0], usual)]
    return await make_history(database, [{"utm_campaign": "spring"}, {}], clicks, [])


def three_days(zone: str = "UTC") -> QueryPeriod:
    """The days of `small_history`."""
    start = FIRST.replace(tzinfo=ZoneInfo(zone))
    return QueryPeriod(start.astimezone(UTC), (start + timedelta(days=3)).astimezone(UTC), ZoneInfo(zone))


async def test_nothing_of_another_organization_shows(analytics: Analytics, database: Database) -> None:
    """Neither its links, campaigns or totals, nor by a filter for its link."""
    other = await small_history(database)
    own = await make_history(database, [{}], [], [])
    for filters in (
        {},
        {Field.LINK: frozenset({other.links[0].id})},
        {Field.CAMPAIGN: frozenset({"spring"})},
    ):
        for field in (Field.LINK, Field.CAMPAIGN, Field.COUNTRY, Field.DOMAIN):
            query = Query(period=three_days(), group_by=(field,), filters=filters)
            found = await ask(analytics, own.org_id, query)
            assert (list(found.rows), found.totals.values, found.links) == ([], {Measure.CLICKS: 0}, {})


async def test_a_link_with_two_tags_counts_in_both_rows(analytics: Analytics, database: Database) -> None:
    """It counts once in the totals, a note says so, and a filter asks for tags by their present names."""
    sales = [Sale("conversions", FIRST, "0", {}, "ada", "EUR", Decimal("1.50"))]
    tags = {0: ["mail", "Sale", "gone"], 1: ["mail"]}
    history = await make_history(
        database, [{}, {}, {}], [(number, FIRST, {"visitor": number}) for number in (0, 1, 2)], sales, tags
    )
    measures = (Measure.CLICKS, Measure.VISITORS, Measure.CONVERSIONS)
    query = Query(period=three_days(), measures=measures, group_by=(Field.TAG,))
    found = await ask(analytics, history.org_id, query)
    rows = {row.group[0]: tuple(row.values[measure] for measure in measures) for row in found.rows}
    assert rows == {"mail": (2, 2, 1), "Sale": (1, 1, 1), None: (1, 1, 0)}
    assert tuple(found.totals.values[measure] for measure in measures) == (3, 3, 1)
    assert any("link with several tags counts in each of their rows" in note for note in found.notes)
    await change_tag(database, history.org_id, "mail", new_name="News")
    for group_by, only, expected in (
        ((Field.TAG,), {"news"}, {("News",): (2, 2, 1)}),
        ((), {"NEWS", "sale"}, {(): (2, 2, 1)}),
        (
            (Field.LINK,),
            {"sale", None},
            {(history.links[0].id,): (1, 1, 1), (history.links[2].id,): (1, 1, 0)},
        ),
        ((), {"mail"}, {(): (0, 0, 0)}),
    ):
        filters = {Field.TAG: frozenset(only)}
        asked = await ask(analytics, history.org_id, replace(query, group_by=group_by, filters=filters))
        found_rows = {row.group: tuple(row.values[measure] for measure in measures) for row in asked.rows}
        assert found_rows == expected
        assert asked.totals.values[Measure.CLICKS] == sum(counts[0] for counts in expected.values())


async def test_clicks_of_a_purged_link_are_told(analytics: Analytics, database: Database) -> None:
    """They stay in the totals, in no row, and a note says how many."""
    history = await small_history(database)
    await purge_link(database, None, history.links[0].id, history.org_id, FIRST)
    found = await ask(analytics, history.org_id, Query(period=three_days(), group_by=(Field.LINK,)))
    assert [row.values for row in found.rows] == [{Measure.CLICKS: 1}]
    assert found.totals.values == {Measure.CLICKS: 4}
    assert any(note.startswith("3 clicks in the totals are in no row") for note in found.notes)


async def test_what_stopped_is_compared(analytics: Analytics, database: Database) -> None:
    """A row that only the period before has is there, with zeros now; each day has its counterpart."""
    history = await small_history(database)
    period = three_days()
    later = QueryPeriod(period.end, period.end + timedelta(days=3), period.zone)
    query = Query(period=later, group_by=(Field.CAMPAIGN,), compare=Comparison.PREVIOUS)
    found = await ask(analytics, history.org_id, query)
    now, before = {Measure.CLICKS: 0}, [{Measure.CLICKS: 3}, {Measure.CLICKS: 1}]
    assert [(row.group, row.values) for row in found.rows] == [(("spring",), now), ((None,), now)]
    assert [row.previous for row in found.rows] == before
    found = await ask(analytics, history.org_id, replace(query, group_by=(Field.DAY,)))
    assert [row.group[0] for row in found.rows] == ["2025-09-28", "2025-09-29", "2025-09-30"]
    assert [row.previous for row in found.rows] == [{Measure.CLICKS: count} for count in (2, 1, 1)]


async def test_pages_follow_each_other(analytics: Analytics, database: Database) -> None:
    """Each row once, in order; a cursor of another query is refused."""
    history = await small_history(database)
    query = Query(period=three_days(), group_by=(Field.DAY, Field.LINK), limit=1)
    rows: list[Row] = []
    cursor = None
    while True:
        found = await ask(analytics, history.org_id, replace(query, cursor=cursor))
        rows += found.rows
        if found.next_cursor is None:
            break
        cursor = found.next_cursor
    whole = await ask(analytics, history.org_id, query, is_whole=True)
    assert rows == list(whole.rows)
    assert (len(rows), whole.rows_in_all, whole.rows_left_out) == (4, 4, 0)
    assert cursor is not None
    for wrong in (cursor, "x", cursor[:-4], "bnVsbA"):
        with pytest.raises(InvalidField, match="cursor"):
            await ask(analytics, history.org_id, Query(period=three_days(), cursor=wrong))


async def test_money_and_rates(analytics: Analytics, database: Database) -> None:
    """Amounts are exact in each currency; a rate without clicks is none; one currency can be sorted by."""
    sale = Sale("conversions", FIRST, "0", {}, None, "EUR", Decimal("19.99"))
    sales = [sale, sale, replace(sale, currency="JPY", revenue=Decimal(500)), replace(sale, link_id="1")]
    clicks = [(0, FIRST, {"reason": None}) for _ in range(3)]
    history = await make_history(database, [{"utm_campaign": "spring"}, {}], clicks, sales)
    measures = (Measure.REVENUE, Measure.CONVERSION_RATE, Measure.REVENUE_PER_CLICK)
    query = Query(period=three_days(), measures=measures, group_by=(Field.CAMPAIGN,))
    rows = {row.group[0]: row.values for row in (await ask(analytics, history.org_id, query)).rows}
    assert rows["spring"] == {
        Measure.REVENUE: {"EUR": Decimal("39.98"), "JPY": Decimal(500)},
        Measure.CONVERSION_RATE: 1.0,
        Measure.REVENUE_PER_CLICK: {"EUR": Decimal("13.326667"), "JPY": Decimal("166.6667")},
    }
    assert rows[None][Measure.CONVERSION_RATE] is rows[None][Measure.REVENUE_PER_CLICK] is None
    one = replace(query, currency="EUR", order=Order(Measure.REVENUE))
    found = await ask(analytics, history.org_id, one)
    assert [row.values[Measure.REVENUE] for row in found.rows] == [Decimal("19.99"), Decimal("39.98")]
    assert found.totals.values[Measure.REVENUE] == Decimal("59.97")


async def test_the_beginning_is_included_and_the_end_is_not(analytics: Analytics, database: Database) -> None:
    """To the millisecond, of clicks and of sales."""
    period = three_days()
    moments = [at + timedelta(milliseconds=offset) for at in (period.start, period.end) for offset in (-1, 0)]
    sales = [Sale(name, at, None, {}) for at in moments for name in ("leads", "installs")]
    clicks = [(0, at, {"reason": None}) for at in moments]
    history = await make_history(database, [{}], clicks, sales)
    measures = (Measure.CLICKS, Measure.LEADS, Measure.INSTALLS)
    found = await ask(analytics, history.org_id, Query(period=period, measures=measures))
    assert found.totals.values == dict.fromkeys(measures, 2)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/New_York"])
async def test_many_days_end_where_the_days_of_the_zone_do(
    analytics: Analytics, database: Database, zone: str
) -> None:
    """At both ends of the period, and between months."""
    edges = [
        midnight(date(2025, 9, 21), zone),
        midnight(date(2025, 10, 1), zone),
        midnight(date(2025, 10, 11), zone),
    ]
    moments = [at + timedelta(milliseconds=offset) for at in edges for offset in (-1, 0)]
    history = await make_history(database, [{}], [(0, at, {"reason": None}) for at in moments], [])
    period = QueryPeriod(edges[0], edges[2], ZoneInfo(zone))
    for fields, clicks in (((Field.LINK,), [4]), ((Field.MONTH, Field.DOMAIN), [2, 2])):
        found = await ask(analytics, history.org_id, Query(period=period, group_by=fields))
        assert [row.values[Measure.CLICKS] for row in found.rows] == clicks
        assert found.totals.values == {Measure.CLICKS: 4}
