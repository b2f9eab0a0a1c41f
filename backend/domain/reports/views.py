"""What a report shows at a time: a table, the overview, a funnel, customers, single rows, links, or Live.

All kinds are read from the report's saved query, have the same address, password and end, and show one page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from backend.domain.analytics.cohorts.cohorts import cohort_rules
from backend.domain.analytics.event_properties import check_marked, event_fields
from backend.domain.analytics.funnels.funnel import FunnelQuery
from backend.domain.analytics.funnels.input import parse_funnel_query
from backend.domain.analytics.input import parse_query
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Query, is_of_events
from backend.domain.errors import FieldError, InvalidField
from backend.domain.reports.cohorts import CohortTables, read_cohorts
from backend.domain.reports.links import LinkList, read_links
from backend.domain.reports.live import LiveFigure, read_live
from backend.domain.reports.overview import overview_queries, read_overview
from backend.domain.reports.saved_query import MOST_ROWS
from backend.domain.reports.singles import ClicksOf, SalesOf, read_clicks, read_sales


class ViewKind(StrEnum):
    """What a report shows."""

    TABLE = "table"
    OVERVIEW = "overview"
    FUNNEL = "funnel"
    COHORTS = "cohorts"
    CLICKS = "clicks"
    SALES = "sales"
    LINKS = "links"
    LIVE = "live"

    @property
    def has_amounts(self) -> bool:
        """Whether it may show money."""
        return self not in {ViewKind.FUNNEL, ViewKind.CLICKS}

    @property
    def has_chart(self) -> bool:
        """Whether it may show something over time, and so notes."""
        return self in {ViewKind.TABLE, ViewKind.OVERVIEW}

    @property
    def is_mailed(self) -> bool:
        """Whether a mail about last week can tell it; Live is about the last minutes."""
        return self is not ViewKind.LIVE


@dataclass(frozen=True, slots=True)
class ReportView:
    """What is asked for a report: one query for a table, several for an overview, or a funnel.

    For customers over time, the queries are that of the tables of cohorts, and that of the rest. For single
    rows it is the query that counts them, and `rows` says what they are. For a list of links it is that of
    their figures, and `links` says which they are. For Live it is the time, and `live` what is counted.
    """

    kind: ViewKind
    queries: tuple[Query, ...] = ()
    funnel: FunnelQuery | None = None
    cohorts: CohortTables | None = None
    rows: ClicksOf | SalesOf | None = None
    links: LinkList | None = None
    live: tuple[LiveFigure, ...] = ()

    @property
    def period(self) -> QueryPeriod:
        """The time that it is about."""
        return self.funnel.period if self.funnel else self.queries[0].period

    @property
    def has_course(self) -> bool:
        """Whether it is of the parts of a time in their order, and so may have notes."""
        return (
            self.kind.has_chart
            and self.queries[0].time_field is not None
            and len(self.queries[0].group_by) == 1
        )

    @property
    def needs_subscription(self) -> bool:
        """Whether it asks for install analytics."""
        return any(query.needs_subscription for query in self.queries)

    @property
    def names_properties(self) -> bool:
        """Whether it names properties of events, which the organization has to have marked."""
        named = [field for query in self.queries for field in query.fields]
        return bool(event_fields([*named, *(self.funnel.funnel.asked_fields if self.funnel else ())]))

    @property
    def mailed(self) -> Query:
        """What a mail asks: of an overview, its figures by the field of its first table.

        Funnels and cohorts have more than one question. Raises InvalidField for Live.
        """
        if not self.kind.is_mailed:
            raise InvalidField("query", f"is one of {self.kind}, which mails can't show")
        first, *tables = self.queries
        if self.kind is not ViewKind.OVERVIEW:
            return first
        groups = (table.group_by for table in tables if not any(map(is_of_events, table.group_by)))
        return replace(first, group_by=next(groups, ()), limit=MOST_ROWS)

    def check_properties(self, marked: Collection[str]) -> None:
        """Raise InvalidField if it names a property of events that the organization has not marked."""
        with _inside_query():
            for query in self.queries:
                check_marked(query.group_by, query.filters, marked)
            if self.funnel:
                self.funnel.funnel.check_marked(marked)


def read_view(
    kind: ViewKind,
    saved: Mapping[str, Any],
    now: datetime,
    *,
    shows_revenue: bool,
    has_subscription: bool = True,
) -> ReportView:
    """What a report of this saved query shows at `now`.

    Amounts are left out unless it shows revenue, and installs without a subscription. Raises the errors of
    all fields together; each name begins with `query.`.
    """

    def shown(query: Query) -> Query:
        query = query if shows_revenue else without_amounts(query)
        return query if has_subscription or not query.needs_subscription else without_installs(query)

    with _inside_query():
        match kind:
            case ViewKind.FUNNEL:
                view = ReportView(kind, funnel=parse_funnel_query(saved, now))
            case ViewKind.OVERVIEW:
                figures, tables, rows = read_overview(saved, now)
                view = ReportView(kind, overview_queries(shown(figures), tables, rows))
            case ViewKind.COHORTS:
                query, tables_of_cohorts = read_cohorts(saved, now, shows_revenue=shows_revenue)
                by_first = replace(query, rules=cohort_rules(query.rules.as_of))
                view = ReportView(kind, (by_first, query), cohorts=tables_of_cohorts)
            case ViewKind.CLICKS:
                counting, clicks_of = read_clicks(saved, now)
                view = ReportView(kind, (counting,), rows=clicks_of)
            case ViewKind.SALES:
                counting, sales_of = read_sales(saved, now)
                view = ReportView(kind, (counting,), rows=sales_of)
            case ViewKind.LINKS:
                listed = read_links(saved, now, shows_revenue=shows_revenue)
                view = ReportView(kind, (listed.query,), links=listed)
            case ViewKind.LIVE:
                minutes, counted = read_live(saved, now)
                view = ReportView(kind, (minutes,), live=counted)
            case ViewKind.TABLE:
                view = ReportView(kind, (shown(parse_query({"limit": MOST_ROWS, **saved}, now)),))
    return view


def without_amounts(query: Query) -> Query:
    """The query without measures of money. Raises InvalidField if nothing is left."""
    nothing_left = InvalidField("measures", "must have one that is no amount, since shows_revenue is false")
    return _without({measure for measure in query.measures if measure.is_money}, query, nothing_left)


def without_installs(query: Query) -> Query:
    """The query without what needs a subscription, which has ended since the report was saved.

    Raises InvalidField if nothing is left.
    """
    nothing_left = InvalidField("installs", "need a subscription, which has ended")
    return _without({Measure.INSTALLS}, query, nothing_left)


def _without(hidden: Collection[Measure], query: Query, nothing_left: InvalidField) -> Query:
    """The query without these measures, and not sorted by one: the order of rows tells of them too."""
    measures = tuple(measure for measure in query.measures if measure not in hidden)
    if not measures:
        raise nothing_left
    order = None if query.order and query.order.column in hidden else query.order
    return replace(query, measures=measures, order=order)


@contextmanager
def _inside_query() -> Iterator[None]:
    """Name the fields of errors as those of the field `query`."""
    try:
        yield
    except FieldError as error:
        first, *others = (InvalidField(f"query.{wrong.field}", wrong.rule) for wrong in error.every)
        first.others = tuple(others)
        raise first from None
