"""What answers to queries of analytics mean, each rule by itself."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from datetime import UTC, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from backend.domain.analytics.answer import AnalyticsAnswer
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import Comparison, QueryPeriod, WeekStart
from backend.domain.analytics.query import Field, Not, Order, Prefix, Query
from backend.domain.errors import InvalidField
from backend.domain.sales.credit_rules import CreditRules, Model
from backend.storage.analytics.answers.query import answer_query, values_by_link
from tests.storage.analytics.queried_facts import (
    DAY_MS,
    Sale,
    StoredClick,
    StoredFacts,
    StoredLink,
    Touch,
    another,
)
from tests.storage.analytics.random_facts import FIRST, TAGS, ms
from tests.storage.analytics.test_query import all_pages


def of_days(*days: int, link: int = 0, **more: Any) -> list[StoredClick]:
    """A click at noon of each of these days after the first one."""
    return [StoredClick(ms(FIRST) + day * DAY_MS + DAY_MS // 2, link, **more) for day in days]


def period(days: int, zone: str = "UTC") -> QueryPeriod:
    """So many days from the first one on."""
    start = FIRST.replace(tzinfo=ZoneInfo(zone))
    return QueryPeriod(start.astimezone(UTC), (start + timedelta(days=days)).astimezone(UTC), ZoneInfo(zone))


TWO = [StoredLink(0, utm={Field.CAMPAIGN: "spring"}), StoredLink(1, utm={Field.CAMPAIGN: "summer"})]


def clicks_by(found: AnalyticsAnswer) -> dict[tuple[str | None, ...], Any]:
    """The clicks of each row."""
    return {row.group: row.values[Measure.CLICKS] for row in found.rows}


def test_pages_see_the_clicks_of_the_first_one() -> None:
    """Clicks that come meanwhile are in no page and no total, until the query is asked anew."""
    facts = StoredFacts(TWO, clicks=[*of_days(0, 0), *of_days(1, link=1)])
    query = Query(period=period(3), group_by=(Field.CAMPAIGN,), limit=1)
    with facts.stored() as connection:
        first = answer_query(connection, query)
        connection.execute("INSERT INTO days_0.blocks VALUES (10, 'block-10', 0)")
        for _ in range(3):
            connection.execute(
                "INSERT INTO days_1.clicks SELECT * EXCLUDE (rowid) REPLACE (10 AS block) FROM clicks "
                "WHERE link = 1 LIMIT 1"
            )
        second = answer_query(another(connection), replace(query, cursor=first.next_cursor))
        assert (clicks_by(first), clicks_by(second)) == ({("spring",): 2}, {("summer",): 1})
        assert first.totals == second.totals
        assert clicks_by(answer_query(another(connection), query)) == {("summer",): 4}
        # Where blocks have been numbered anew, nobody knows which ones the first page saw.
        connection.execute("UPDATE days_0.blocks SET id = 'other' || block")
        anew = answer_query(another(connection), replace(query, cursor=first.next_cursor))
        assert anew.totals.values == {Measure.CLICKS: 6}


@pytest.mark.parametrize("text", ["", "x", "bnVsbA", "eJyLBgAAXABc", "eJwDAAAAAAE", "é"])
def test_what_is_no_cursor_is_refused(text: str) -> None:
    """Whatever it is, without a word of how it was read."""
    with StoredFacts().stored() as connection, pytest.raises(InvalidField, match="cursor is not one"):
        answer_query(connection, Query(period=period(3), group_by=(Field.DAY,), cursor=text or "="))


def test_a_cursor_of_another_query_is_refused() -> None:
    """Of another filter too, but not of another size of pages."""
    facts = StoredFacts(TWO, clicks=of_days(0, 1, 2))
    query = Query(period=period(3), group_by=(Field.DAY,), limit=1)
    with facts.stored() as connection:
        cursor = answer_query(connection, query).next_cursor
        assert len(answer_query(connection, replace(query, cursor=cursor, limit=5)).rows) == 2
        for other in (
            replace(query, period=period(4)),
            replace(query, filters={Field.CAMPAIGN: Prefix("s")}),
            replace(query, filters={Field.CAMPAIGN: Not(frozenset("s"))}),
        ):
            with pytest.raises(InvalidField, match="belongs to another query"):
                answer_query(connection, replace(other, cursor=cursor))


def test_links_are_named() -> None:
    """Rows by link come with the names of their links, and figures of all links can be had at once."""
    facts = StoredFacts([*TWO, StoredLink(2, is_kept=False)], clicks=[*of_days(0, 1), *of_days(0, link=2)])
    with facts.stored() as connection:
        query = Query(period=period(3), group_by=(Field.LINK,))
        found = answer_query(connection, query)
        assert {name: (of.domain, of.path, of.link_name) for name, of in found.links.items()} == {
            "link-0": ("d.example", "path-0", "Link 0")
        }
        assert values_by_link(connection, query) == {"link-0": {Measure.CLICKS: 2}}


def test_clicks_of_links_deleted_for_good_are_told() -> None:
    """They are in the totals and in no row, and a note says how many; a filter by links leaves none."""
    links = [TWO[0], replace(TWO[1], is_kept=False)]
    facts = StoredFacts(links, clicks=[*of_days(0), *of_days(0, 1, 2, link=1)])
    with facts.stored() as connection:
        query = Query(period=period(3), group_by=(Field.CAMPAIGN,))
        found = answer_query(connection, query)
        assert (clicks_by(found), found.totals.values) == ({("spring",): 1}, {Measure.CLICKS: 4})
        assert any(note.startswith("3 clicks in the totals are in no row") for note in found.notes)
        left = answer_query(connection, replace(query, filters={Field.CAMPAIGN: Prefix("s")}))
        assert left.totals.values == {Measure.CLICKS: 1}
        assert not any("in no row" in note for note in left.notes)


def test_a_tag_that_is_not_wanted_leaves_other_links() -> None:
    """A link with such a tag is left out, whatever other tags it has: both filters together are all."""
    tags = (("1", "2"), ("2", "gone"), ("gone",))
    links = [StoredLink(number, tag_ids=tag_ids) for number, tag_ids in enumerate(tags)]
    facts = StoredFacts(links, TAGS, [*of_days(0), *of_days(0, link=1), *of_days(0, link=2)])
    query = Query(period=period(1), group_by=(Field.TAG,))
    with facts.stored() as connection:
        for chosen, rows, total in (
            (frozenset(["mail"]), {("Mail",): 1}, 1),
            (Not(frozenset(["MAIL"])), {("spring",): 1, (None,): 1}, 2),
            (Not(frozenset([None])), {("Mail",): 1, ("spring",): 2}, 2),
            (Prefix("SPR"), {("spring",): 2}, 2),
        ):
            found = answer_query(connection, replace(query, filters={Field.TAG: chosen}))
            assert (clicks_by(found), found.totals.values[Measure.CLICKS]) == (rows, total), chosen


def test_the_hosts_of_a_site_are_one_row() -> None:
    """Who comes by two of its hosts on one day is one visitor."""
    hosts = ("www.google.de", "google.com", "mail.example")
    clicks = [click for host in hosts for click in of_days(0, visitor=1, referrer=host)]
    measures = (Measure.CLICKS, Measure.VISITORS)
    query = Query(period=period(1), measures=measures, group_by=(Field.REFERRING_SITE,))
    with StoredFacts(TWO, clicks=clicks).stored() as connection:
        found = answer_query(connection, query)
    rows = [(row.group, tuple(row.values[measure] for measure in measures)) for row in found.rows]
    assert rows == [(("Google",), (2, 1)), (("mail.example",), (1, 1))]
    assert tuple(found.totals.values[measure] for measure in measures) == (3, 1)


def test_the_click_that_earned_a_sale_is_one_and_counts() -> None:
    """Of several in one millisecond always the same one, by whatever it is asked: one that counts."""
    at = ms(FIRST) + 1_000
    clicks = [
        StoredClick(at, 0, country="AT", platform="ios", reason="head"),
        StoredClick(at, 0, country="DE", platform="desktop", outcome="web"),
        StoredClick(at, 0, country="CH", platform="ios", outcome="intent"),
    ]
    sale = Sale(
        "conversion", at + 5_000, touches=(Touch(0, click_at=at),), currency="EUR", digits=2, amount=100
    )
    for some in (clicks, clicks[::-1]):
        with StoredFacts(TWO, clicks=some, sales=[sale]).stored() as connection:
            for field, value in ((Field.COUNTRY, "CH"), (Field.PLATFORM, "ios"), (Field.OUTCOME, "intent")):
                query = Query(period=period(1), measures=(Measure.CONVERSIONS,), group_by=(field,))
                assert [row.group for row in answer_query(connection, query).rows] == [(value,)]


def former_days() -> StoredFacts:
    """Two days whose single clicks have expired, and one of which they are known."""
    clicks = [*of_days(0, 1, weight=5, country="DE"), *of_days(2, country="DE", visitor=9)]
    former = [(ms(FIRST) // DAY_MS + day, 0, visitor) for day in (0, 1) for visitor in range(day + 1)]
    sale = Sale("lead", ms(FIRST) + DAY_MS, touches=(Touch(0, click_at=ms(FIRST) + 1),))
    return StoredFacts(TWO, clicks=clicks, former=former, sales=[sale])


def test_visitors_of_former_days_are_known_by_day_and_link() -> None:
    """By country they are in the totals only, and a note says from which day on they are known."""
    with former_days().stored() as connection:
        query = Query(period=period(3), measures=(Measure.VISITORS, Measure.CLICKS), group_by=(Field.DAY,))
        by_day = answer_query(connection, query)
        assert [tuple(row.values.values()) for row in by_day.rows] == [(1, 5), (2, 5), (1, 1)]
        assert not any("Single clicks" in note or "noon" in note for note in by_day.notes)
        by_country = answer_query(connection, replace(query, group_by=(Field.COUNTRY,)))
        assert [tuple(row.values.values()) for row in by_country.rows] == [(1, 11)]
        assert by_country.totals.values[Measure.VISITORS] == 4
        assert (
            "Single clicks are known from 2025-09-27 on. Visitors before are known by days and links only: "
            "by country they are in no row."
        ) in by_country.notes
        leads = replace(query, measures=(Measure.LEADS,), group_by=(Field.COUNTRY,))
        assert any(
            note.startswith("What came of clicks before 2025-09-27 has no country")
            for note in answer_query(connection, leads).notes
        )


def test_former_days_that_a_time_zone_cuts_count_where_their_noon_is() -> None:
    """Their visitors do, as a note says; clicks are known by the quarter of an hour."""
    with former_days().stored() as connection:
        query = Query(
            period=period(4, "Pacific/Kiritimati"),
            measures=(Measure.VISITORS, Measure.CLICKS),
            group_by=(Field.DAY,),
        )
        found = answer_query(connection, query)
        assert [tuple(row.values.values()) for row in found.rows] == [(0, 0), (1, 5), (2, 5), (1, 1)]
        assert any("counts as a whole where its noon in UTC is" in note for note in found.notes)


def test_weeks_that_begin_on_sunday() -> None:
    """Are named by it; the first day here is a Thursday."""
    facts = StoredFacts(TWO, clicks=of_days(0, 2, 3, 4))
    asked = replace(period(7), week_starts=WeekStart.SUNDAY)
    with facts.stored() as connection:
        found = answer_query(connection, Query(period=asked, group_by=(Field.WEEK,)))
        assert clicks_by(found) == {("2025-09-21",): 2, ("2025-09-28",): 2}


def test_the_chance_of_each_variant() -> None:
    """By what it stood beside, now and in the time compared with; rows can be sorted by it."""
    clicks = [click for name in ("A", "B") for click in of_days(*([0] * 20), *([3] * 5), variant=name)]
    at = ms(FIRST) + 3 * DAY_MS + 1
    sold = [
        Sale("conversion", at, touches=(Touch(0, variant=name),))
        for name, number in (("A", 1), ("B", 3))
        for _ in range(number)
    ]
    query = Query(
        period=QueryPeriod(FIRST + timedelta(days=3), FIRST + timedelta(days=6), UTC),
        measures=(Measure.CHANCE_OF_BEST,),
        group_by=(Field.VARIANT, Field.CAMPAIGN),
        compare=Comparison.PREVIOUS,
        change=True,
        order=Order(Measure.CHANCE_OF_BEST, is_descending=True),
        limit=1,
    )
    with StoredFacts(TWO, clicks=clicks, sales=sold).stored() as connection:
        rows = [row for page in all_pages(connection, query) for row in page.rows]
        assert [row.group for row in rows] == [("B", "spring"), ("A", "spring")]
        now = [row.values[Measure.CHANCE_OF_BEST] for row in rows]
        before = [row.previous and row.previous[Measure.CHANCE_OF_BEST] for row in rows]
        assert now[0] == 0.879
        assert now[1] == 0.121
        assert before == [0.5, 0.5]
        alone = replace(query, filters={Field.VARIANT: frozenset("A")}, compare=None, change=False)
        assert [row.values for row in answer_query(connection, alone).rows] == [
            {Measure.CHANCE_OF_BEST: None}
        ]


def test_amounts_are_exact_and_rounded_once() -> None:
    """A third of each sale: rows come to a cent less than the total. A rate without clicks is none."""
    touches = tuple(Touch(number, click_at=None) for number in (0, 0, 1))
    sale = Sale("conversion", ms(FIRST) + 1, "ada", currency="EUR", digits=2, amount=10_000, touches=touches)
    measures = (Measure.REVENUE, Measure.CONVERSIONS, Measure.CONVERSION_RATE, Measure.CUSTOMERS)
    query = Query(
        period=period(1),
        measures=measures,
        group_by=(Field.CAMPAIGN,),
        currency="EUR",
        rules=CreditRules(model=Model.LINEAR),
    )
    with StoredFacts(TWO, clicks=of_days(0, 0), sales=[sale, sale]).stored() as connection:
        found = answer_query(connection, query)
        assert {row.group: tuple(row.values.values()) for row in found.rows} == {
            ("spring",): (Decimal("133.33"), 1.333333, 0.666667, 1),
            ("summer",): (Decimal("66.67"), 0.666667, None, 1),
        }
        assert tuple(found.totals.values.values()) == (Decimal("200.00"), 2, 1.0, 1)


def test_a_cursor_that_was_made_up_is_refused() -> None:
    """With values that no row has, or of another kind than the order's."""
    query = Query(period=period(3), group_by=(Field.CAMPAIGN,), limit=1)
    with StoredFacts(TWO, clicks=[*of_days(0), *of_days(0, link=1)]).stored() as connection:
        cursor = answer_query(connection, query).next_cursor
        assert cursor is not None
        parts = json.loads(zlib.decompress(base64.urlsafe_b64decode(cursor + "==")))
        assert parts[3:] == [1, "spring"]
        for values in ([1], ["1", "spring"], [1, 1], [10**40, "spring"], [1, "\ud800"], [[], "spring"]):
            packed = zlib.compress(json.dumps([*parts[:3], *values]).encode())
            made_up = base64.urlsafe_b64encode(packed).decode().rstrip("=")
            with pytest.raises(InvalidField, match="cursor is not one"):
                answer_query(connection, replace(query, cursor=made_up))


def test_queries_of_one_moment_give_credit_once() -> None:
    """Whatever they ask of one period, and the same as each would alone."""
    sold = [Sale(kind, ms(FIRST) + 1, "ada", touches=(Touch(0),)) for kind in ("lead", "conversion", "event")]
    facts = StoredFacts(TWO, sales=sold)
    asked = [
        Query(period=period(3), measures=(measure,), group_by=(Field.CAMPAIGN,))
        for measure in (
            Measure.CONVERSIONS,
            Measure.LEADS,
            Measure.CONTACTS,
            Measure.CUSTOMERS,
            Measure.EVENTS,
        )
    ]
    with facts.stored() as connection:
        for query in (*asked, *reversed(asked)):
            [row] = answer_query(connection, query).rows
            assert (row.group, row.values[query.measures[0]]) == (("spring",), 1)
        kept = connection.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'shares_%'")
        assert kept.fetchall() == [(3,)]
