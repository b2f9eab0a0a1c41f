"""Answers to queries of analytics from facts in columns equal a naive count over all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from backend.domain.analytics_answer import AnalyticsAnswer, Row
from backend.domain.analytics_query import MONEY, TIMES, Field, Measure, Not, Order, Prefix, Query
from backend.domain.errors import InvalidField
from backend.domain.query_period import Comparison, QueryPeriod, WeekStart
from backend.storage.analytics.questions import sales
from backend.storage.analytics.questions.query import answer_query, count_by_link, stream_query
from tests.storage.analytics.queried_facts import (
    DAY_MS,
    Install,
    Key,
    Share,
    StoredClick,
    StoredFacts,
    StoredLink,
    Tally,
    label_of,
    shown,
    told_shares,
)

# With daylight saving time, without; with offsets of a half and of a quarter of an hour; far from UTC.
ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns",
    "Pacific/Kiritimati", "Pacific/Chatham", "Africa/Casablanca",
)  # fmt: skip
# Around changes of clocks in Chatham, at Lord Howe Island, in Europe and in America; in order.
CALENDAR = [date(2025, 9, 26 + day) for day in range(3)]
CALENDAR += [date(2025, 10, day) for day in (1, 4, 5, 6, 25, 26, 27)]
CALENDAR += [date(2025, 11, day) for day in (1, 2, 3)]
FIRST = datetime(2025, 9, 25, tzinfo=UTC)
DAYS = 45
# Days whose single clicks have expired, in some histories.
FORMER_DAY = int(datetime(2025, 9, 27, tzinfo=UTC).timestamp()) // 86_400


def midnight(day: date, zone: str) -> datetime:
    """When the day begins in the zone."""
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)


def ms(at: datetime) -> int:
    """In milliseconds since 1970."""
    return round(at.timestamp() * 1000)


# Most at the edges of days in some zone, to the millisecond: there mistakes are made.
EDGES = st.builds(
    lambda day, zone, shift: ms(midnight(day, zone)) + shift,
    st.sampled_from(CALENDAR),
    st.sampled_from(ZONES),
    st.sampled_from([-1, 0, 0, 1, 900_000, -900_000]),
)
MOMENTS = EDGES | EDGES | st.builds(
    lambda day, second: ms(midnight(day, "UTC")) + second * 1000,
    st.sampled_from(CALENDAR),
    st.integers(0, 24 * 3600 - 1),
)  # fmt: skip
TAGS = {"1": "Mail", "2": "spring", "3": "Sprint"}
UTM = st.fixed_dictionaries(
    {},
    optional={
        Field.CAMPAIGN: st.sampled_from(["spring", "summer", "Ünï 🙂"]),
        Field.SOURCE: st.sampled_from(["ads", "a"]),
    },
)
LINKS = st.lists(
    st.tuples(UTM, st.lists(st.sampled_from(["1", "2", "3", "gone"]), unique=True).map(tuple), st.booleans()),
    min_size=4,
    max_size=4,
).map(
    lambda facts: [
        StoredLink(number, f"d{number % 2}.example", utm, tags, is_kept=number < 3 or is_kept)
        for number, (utm, tags, is_kept) in enumerate(facts)
    ]
)
CLICKS = st.builds(
    StoredClick,
    at=MOMENTS,
    link=st.integers(0, 3),
    outcome=st.sampled_from(["web", "intent"]),
    reason=st.none() | st.none() | st.sampled_from(["head", "prefetch"]),
    platform=st.sampled_from(["ios", "desktop"]),
    system=st.sampled_from(["", "iOS", "Windows 11.2"]),
    browser=st.sampled_from(["", "$Chrome", "a.b%c"]),
    country=st.none() | st.sampled_from(["DE", "FR", "DK"]),
    referrer=st.none() | st.sampled_from(["t.co", "news.example"]),
    variant=st.none() | st.sampled_from(["A", "mail"]),
    visitor=st.none() | st.integers(0, 5),
)


@st.composite
def shares(draw: Any) -> list[Share]:
    """What the touches of one lead, conversion or event get."""
    kind = draw(st.sampled_from(["lead", "conversion", "conversion", "event"]))
    common: dict[str, Any] = {
        "kind": kind,
        "at": draw(MOMENTS),
        "customer": draw(st.none() | st.sampled_from(["ada", "bob"])),
    }
    if kind == "event":
        common["name"] = draw(st.sampled_from(["signup", "sign in"]))
    if kind == "conversion":
        currency, digits = draw(st.sampled_from([("EUR", 2), ("EUR", 3), ("JPY", 0)]))
        common |= {
            "currency": currency,
            "digits": digits,
            "amount": draw(st.integers(0, 50)),
            "refunded": draw(st.integers(0, 5)),
        }
    if draw(st.integers(0, 3)) == 0:
        return [Share(**common, has_touch=False)]
    weights = draw(st.sampled_from([(1,), (1,), (1,), (1, 1), (1, 1, 1), (4, 1, 1, 4)]))
    touch = st.fixed_dictionaries(
        {
            "link": st.none() | st.integers(0, 3),
            "utm": UTM,
            "variant": st.none() | st.sampled_from(["A", "mail"]),
        }
    )
    return [Share(**common, weight=each, whole=sum(weights), **draw(touch)) for each in weights]


@st.composite
def histories(draw: Any) -> StoredFacts:
    """Whatever may have happened."""
    clicks = draw(st.lists(CLICKS, max_size=40))
    sold = [each for some in draw(st.lists(shares(), max_size=12)) for each in some]
    # A click earns a sale: of which there is one only, as the model looks for the first one.
    places = {(each.at, each.link): each for each in clicks}
    clicks = list(places.values())
    for number, each in enumerate(sold):
        if each.link is not None and clicks and draw(st.booleans()):
            own = [click.at for click in clicks if click.link == each.link] or [ms(FIRST)]
            sold[number] = replace(each, click_at=draw(st.sampled_from(own)))
    former: list[tuple[int, int, int]] = []
    if draw(st.booleans()):
        former = draw(
            st.lists(
                st.tuples(st.integers(FORMER_DAY - 2, FORMER_DAY), st.integers(0, 3), st.integers(0, 5)),
                max_size=8,
                unique=True,
            )
        )
        end = (FORMER_DAY + 1) * DAY_MS
        clicks = [
            replace(each, at=each.at // 900_000 * 900_000, visitor=None, weight=2) if each.at < end else each
            for each in clicks
        ]
    installs = draw(st.lists(st.builds(Install, at=MOMENTS, link=st.none() | st.integers(0, 3)), max_size=3))
    return StoredFacts(draw(LINKS), TAGS, clicks, former, sold, installs)


VALUES = {
    Field.LINK: ["link-0", "link-7"],
    Field.DOMAIN: ["d0.example", "d1.example"],
    Field.CAMPAIGN: ["spring", "summer", "s"],
    Field.SOURCE: ["ads", "a"],
    Field.TAG: ["mail", "spring", "spr"],
    Field.COUNTRY: ["DE", "D", "FR"],
    Field.PLATFORM: ["ios"],
    Field.SYSTEM: ["", "Win"],
    Field.BROWSER: ["$Chrome"],
    Field.REFERRER: ["t.co"],
    Field.VARIANT: ["A", "mail"],
    Field.OUTCOME: ["web"],
    Field.EVENT: ["sign", "signup"],
}


@st.composite
def filters(draw: Any) -> dict[Field, Any]:
    """Up to two filters, of all three kinds."""
    found = {}
    for name in draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=2, unique=True)):
        values = VALUES[name]
        some = st.frozensets(st.none() | st.sampled_from(values), min_size=1, max_size=2)
        begin = st.sampled_from([each for each in values if each])
        found[name] = draw(some | some.map(Not) | begin.map(Prefix))
    return found


# Which are made of others by rules that have tests of their own.
COUNTED = tuple(each for each in Measure if each is not Measure.CHANCE_OF_BEST)


@st.composite
def queries(draw: Any) -> Query:
    """Whatever can be asked, in any zone and period."""
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    if draw(st.integers(0, 3)):  # days of the zone
        days = sorted(draw(st.lists(st.sampled_from(CALENDAR), min_size=2, max_size=2, unique=True)))
        start, stop = (midnight(day, zone.key) for day in days)
    else:
        quarters = st.integers(0, 4 * 24 * DAYS)
        begin, end = sorted(draw(st.lists(quarters, min_size=2, max_size=2, unique=True)))
        start, stop = (FIRST + timedelta(minutes=15 * each) for each in (begin, end))
    fields = draw(st.lists(st.sampled_from(Field), max_size=4, unique=True))
    time = [each for each in fields if each in TIMES][:1]
    compare = draw(st.none() | st.sampled_from(Comparison))
    currency = draw(st.none() | st.sampled_from(["EUR", "JPY"]))
    query = Query(
        period=QueryPeriod(start, stop, zone, draw(st.sampled_from(WeekStart))),
        measures=tuple(draw(st.lists(st.sampled_from(COUNTED), min_size=1, max_size=4, unique=True))),
        group_by=tuple(each for each in fields if each not in TIMES or each in time),
        filters=draw(filters()),
        compare=compare,
        change=compare is not None and draw(st.booleans()),
        currency=currency,
    )
    columns = [each for each in (*query.measures, *query.group_by) if currency or each not in MONEY]
    orders = [Order(each, is_descending) for each in columns for is_descending in (False, True)]
    if query.change:
        orders += [replace(each, of_change=True) for each in orders if isinstance(each.column, Measure)]
    return replace(query, order=draw(st.none() | st.sampled_from(orders))) if orders else query


@pytest.fixture(autouse=True)
def _shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sales, "credited", told_shares, raising=False)


def key(row: Row) -> Key:
    """What a row is of."""
    return (*row.group, row.kind) if row.kind else row.group


def plain(value: object) -> object:
    """A value without amounts of nothing."""
    return {name: each for name, each in value.items() if each} if isinstance(value, Mapping) else value


def expected_rows(
    facts: StoredFacts, query: Query
) -> tuple[dict[Key, tuple[Tally, Tally]], tuple[Tally, Tally], dict[Key, tuple[Tally, Tally]]]:
    """Now and before: of each row, of all; what is there now."""
    spans = query.period.spans(query.time_field)
    now, total = facts.naive(
        query, label_of(query, query.period.zone), ms(query.period.start), ms(query.period.end)
    )
    before: dict[Key, Tally] = {}
    total_before = Tally()
    if query.compare:
        compared = query.period.compared(query.compare)
        others = query.period.compared_spans(query.time_field, query.compare)

        def label(at: int) -> str | None:
            span = others.at(at // 900_000)
            return span.label if span else None

        before, total_before = facts.naive(query, label, ms(compared.start), ms(compared.end))
    keys = {*now, *before}
    if query.time_field and len(query.group_by) == 1:
        keys |= {(each,) for each in spans.labels}
    if not query.group_by:
        keys.add(())
    rows = {each: (now.get(each, Tally()), before.get(each, Tally())) for each in keys}
    return rows, (total, total_before), rows


def change(now: Any, before: Any) -> float | None:
    """By how much a value changed."""
    if now is None or not before or isinstance(now, Mapping):
        return None
    return round(float((Fraction(now) - Fraction(before)) / Fraction(before)), 6)


def assert_row(query: Query, row: Row, expected: tuple[Tally, Tally]) -> None:
    """Fail unless a row, or the totals, say what a naive count says."""
    now, before = (
        {each: shown(tally, each, query.currency) for each in query.measures} for tally in expected
    )
    assert {name: plain(each) for name, each in row.values.items()} == now, row
    if not query.compare:
        assert row.previous is row.change is None
        return
    assert row.previous is not None
    assert {name: plain(each) for name, each in row.previous.items()} == before, row
    if query.change:
        assert row.change == {name: change(now[name], before[name]) for name in now}


def in_order(query: Query, rows: Mapping[Key, tuple[Tally, Tally]]) -> list[Key]:
    """The rows by the query's order."""
    order = query.sorting

    def value(each: Key) -> Any:
        if isinstance(order.column, Field):
            return each[query.group_by.index(order.column)]
        now, before = (shown(tally, order.column, query.currency) for tally in rows[each])
        found = change(now, before) if order.of_change else now
        return 0 if isinstance(found, Mapping) else found

    texts = sorted(rows, key=lambda each: tuple((part is None, part or "") for part in each))
    valued = [each for each in texts if value(each) is not None]
    others = [each for each in texts if value(each) is None]
    if order.is_descending:
        return [*sorted(valued, key=lambda each: Reversed(value(each))), *others]
    return [*sorted(valued, key=value), *others]


class Reversed:
    """A value that sorts the other way round."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Reversed) -> bool:
        return bool(self.value > other.value)


def assert_answer(facts: StoredFacts, found: AnalyticsAnswer) -> None:
    """Fail unless the whole answer says what a naive count says."""
    query = found.query
    rows, totals, _ = expected_rows(facts, query)
    assert [key(each) for each in found.rows] == in_order(query, rows), query
    for row in found.rows:
        assert_row(query, row, rows[key(row)])
    assert_row(query, found.totals, totals)
    assert found.rows_in_all == len(rows)


@settings(max_examples=60, phases=[Phase.generate], deadline=None)
@given(facts=histories(), asked=st.lists(queries(), min_size=12, max_size=12))
def test_answers_equal_a_naive_count(facts: StoredFacts, asked: list[Query]) -> None:
    """For any facts, fields, filters, zone, period, comparison and order."""
    with facts.stored() as connection:
        for query in asked:
            assert_answer(facts, answer_query(connection, query, is_whole=True))
