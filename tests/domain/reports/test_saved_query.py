"""The query of a report: what can be saved, and what is left of it without amounts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from backend.domain.analytics.cohorts.cells import CellFigure
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import Field, Order, Query
from backend.domain.errors import FieldError, InvalidField
from backend.domain.links.listing import NEWEST_FIRST
from backend.domain.reports.live import LiveFact, LiveFigure, live_counts, live_since
from backend.domain.reports.overview import FIGURES
from backend.domain.reports.saved_query import MOST_ROWS, SavedQuery
from backend.domain.reports.views import ViewKind, read_view

NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


def saved(**query: Any) -> dict[str, Any]:
    """The query as it is saved."""
    return SavedQuery().parse("query", query)


def read_query(query: dict[str, Any], now: datetime, *, shows_revenue: bool) -> Query:
    """What a table with this query shows."""
    (shown,) = read_view(ViewKind.TABLE, query, now, shows_revenue=shows_revenue).queries
    return shown


def test_a_moving_period_moves() -> None:
    """The same saved query is about another time a day later."""
    query = saved(period="yesterday", compare=None)
    assert query == {"period": "yesterday"}
    today = read_query(query, NOW, shows_revenue=False)
    tomorrow = read_query(query, NOW + timedelta(days=1), shows_revenue=False)
    assert tomorrow.period.start - today.period.start == timedelta(days=1)
    assert today.limit == MOST_ROWS


def test_every_error_is_one_of_the_query() -> None:
    """The names of all wrong fields begin with that of the query."""
    with pytest.raises(FieldError) as caught:
        read_query(saved(measures=["euros"], limt=5), NOW, shows_revenue=True)
    assert [error.field for error in (caught.value, *caught.value.others)] == ["query.limt", "query.measures"]


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ({"cursor": None}, "query.cursor is not a field of a report"),
        ({"limit": MOST_ROWS + 1}, "query.limit must be a whole number from 1 to 1000"),
        ({"filters": {"campaign": ["x" * 40_000]}}, "query must have at most 32768 bytes as JSON"),
        ({"filters": {"$where": ["x"]}}, r"query must not have names that begin with \$"),
    ],
)
def test_what_can_t_be_saved(query: dict[str, Any], rule: str) -> None:
    """A report has one page, fits into a document, and has names that MongoDB takes for nothing else."""
    with pytest.raises(InvalidField, match=rule):
        saved(**query)


def test_an_overview_asks_for_its_course_and_each_table() -> None:
    """Its figures by a part of the period, and its main ones by each field; a mail has those of the first."""
    query = saved(period="last_7_days", group_by=["source", "event", "country"], order_by="-visitors")
    view = read_view(ViewKind.OVERVIEW, query, NOW, shows_revenue=False)
    course, *tables = view.queries
    assert (course.group_by, course.measures) == ((Field.DAY,), FIGURES[:-1])
    columns = (Measure.CLICKS, Measure.VISITORS, Measure.CONVERSIONS)
    assert [(table.group_by, table.measures) for table in tables] == [
        ((Field.SOURCE,), columns),
        ((Field.EVENT,), (Measure.EVENTS,)),
        ((Field.COUNTRY,), columns),
    ]
    assert view.mailed.group_by == (Field.SOURCE,)


@pytest.mark.parametrize(
    ("kind", "query", "rules"),
    [
        (
            ViewKind.OVERVIEW,
            {"group_by": ["day"], "limit": 101, "measures": ["x"]},
            ["query.limit must be a whole number from 1 to 100", "query.measures must be one of"],
        ),
        (ViewKind.OVERVIEW, {"group_by": ["day"]}, ["query.group_by can't have day"]),
        (ViewKind.OVERVIEW, {"steps": []}, ["query.steps is not a field"]),
        (ViewKind.FUNNEL, {}, ["query.steps field is required"]),
        (
            ViewKind.FUNNEL,
            {"measures": ["clicks"], "steps": []},
            ["query.measures is not", "query.steps must"],
        ),
        (ViewKind.TABLE, {"steps": []}, ["query.steps is not a field"]),
        (
            ViewKind.COHORTS,
            {"measures": ["clicks"], "weeks": 54, "model": "linear", "group_by": ["link"]},
            ["query.measures must be one of", "query.weeks must", "query.group_by is not"],
        ),
        (ViewKind.COHORTS, {"model": "linear"}, ["query.model must be one of"]),
        (ViewKind.COHORTS, {"from": "2020-01-01"}, ["query.from must be at most 400 days"]),
        (
            ViewKind.CLICKS,
            {"of": "sales", "currency": "EUR", "filters": {"event": ["x"]}, "limit": 2_000},
            ["query.of must be one of", "query.currency is not", "query.limit must"],
        ),
        (
            ViewKind.LINKS,
            {"filters": {"state": "asleep"}, "order_by": "-visitors", "measures": ["visitors"], "of": "x"},
            ["query.filters.state must be", "query.order_by must", "query.measures must", "query.of is not"],
        ),
        (
            ViewKind.LIVE,
            {"filters": {"event": ["x"]}, "period": "today"},
            ["query.filters.event can't", "query.period is not"],
        ),
        (ViewKind.SALES, {"filters": {"event": ["x"]}}, ["query.filters.event can't be filtered by"]),
    ],
)
def test_each_kind_has_its_fields(kind: ViewKind, query: dict[str, Any], rules: list[str]) -> None:
    """What is wrong is told of all fields together, each with its place in the query."""
    with pytest.raises(FieldError) as caught:
        read_view(kind, query, NOW, shows_revenue=True)
    told = [str(error) for error in (caught.value, *caught.value.others)]
    assert [text for text in rules if not any(message.startswith(text) for message in told)] == []


def test_live_can_t_be_mailed() -> None:
    """A mail about last week has nothing to say about the last minutes."""
    view = read_view(ViewKind.LIVE, {}, NOW, shows_revenue=False)
    with pytest.raises(InvalidField, match="is one of live"):
        assert view.mailed


def test_a_list_of_links_without_revenue_is_not_sorted_by_it() -> None:
    """The order would tell who brought most; the newest come first instead. Other orders stay."""
    query = saved(order_by="-revenue", filters={"tag": "Print", "state": "enabled"})
    listed = read_view(ViewKind.LINKS, query, NOW, shows_revenue=False).links
    assert listed
    assert (listed.order, listed.query.measures) == (NEWEST_FIRST, (Measure.CLICKS, Measure.CONVERSIONS))
    assert listed.filter_words == [("State", "enabled"), ("Tag", "Print")]
    shown = read_view(ViewKind.LINKS, query, NOW, shows_revenue=True).links
    assert shown
    assert shown.order_words == "revenue, most first"
    by_clicks = read_view(ViewKind.LINKS, saved(order_by="clicks"), NOW, shows_revenue=False).links
    assert by_clicks
    assert by_clicks.order_words == "clicks, least first"


def test_live_counts_by_the_minute() -> None:
    """Parts of a sale add up to one; what was before the last minutes is in none of them. If as many facts
    as can be read were read, there may be more."""
    since = live_since(NOW.replace(second=42))
    assert since == NOW - timedelta(minutes=29)
    half, euros = Fraction(1, 2), Decimal("9.50")
    facts = [
        LiveFact(since - timedelta(seconds=1), "before", "DE"),
        LiveFact(since, "Letter", "AT", half, "EUR", euros),
        LiveFact(since + timedelta(seconds=59), "Poster", None, half, "EUR", euros),
        LiveFact(NOW, "Poster", "AT", currency="USD", revenue=Decimal(3)),
    ]
    counts = live_counts(LiveFigure.CONVERSIONS, facts, since, 5)
    assert (counts.minutes[0], counts.minutes[29], counts.total, counts.is_cut) == (1, 1, 2, False)
    assert counts.links[0] == ("Poster", 2)
    assert dict(counts.countries) == {"AT": 2, None: 0}
    assert counts.revenue == {"EUR": euros, "USD": Decimal(3)}
    assert live_counts(LiveFigure.CONVERSIONS, facts, since, 4).is_cut


def test_cohorts_without_revenue_have_no_table_of_amounts() -> None:
    """Others stay; nothing but amounts can't be shown."""
    query = saved(measures=["revenue", "revenue_per_customer", "conversions"])
    shown = read_view(ViewKind.COHORTS, query, NOW, shows_revenue=False).cohorts
    assert shown
    assert shown.figures == (CellFigure.CONVERSIONS,)
    with pytest.raises(InvalidField, match="must have one that is no amount"):
        read_view(ViewKind.COHORTS, saved(measures=["revenue"]), NOW, shows_revenue=False)


def test_without_revenue_no_amount_is_left() -> None:
    """No measure of money, no change of one, and no order by one, which would tell who brought most."""
    query = saved(
        measures=list(set(Measure) - {Measure.CHANCE_OF_BEST}),
        group_by=["campaign"],
        currency="EUR",
        compare="previous",
        change=True,
        order_by="-change.revenue",
    )
    money = {measure for measure in Measure if measure.is_money}
    assert set(read_query(query, NOW, shows_revenue=True).measures) >= money
    shown = read_query(query, NOW, shows_revenue=False)
    assert money.isdisjoint({*shown.measures, *shown.needed, *shown.shown})
    assert shown.sorting.column in shown.measures
    kept = read_query(query | {"order_by": "-change.clicks"}, NOW, shows_revenue=False)
    assert kept.order == Order(Measure.CLICKS, is_descending=True, of_change=True)


def test_nothing_but_amounts_can_t_be_shown_without_revenue() -> None:
    """Then there would be no column."""
    with pytest.raises(InvalidField, match=r"query\.measures must have one that is no amount"):
        read_query(saved(measures=["revenue"]), NOW, shows_revenue=False)
