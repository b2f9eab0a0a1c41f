"""Asks what a report shows, each kind in its way. What its readers must not see is in no answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from backend.domain.analytics.answer import AnalyticsAnswer
from backend.domain.analytics.cohorts.cohorts import CohortTable
from backend.domain.analytics.cohorts.new_customers import NewAndReturning
from backend.domain.analytics.cohorts.time_to_sale import TimeToSale
from backend.domain.analytics.funnels.answer import FunnelAnswer
from backend.domain.analytics.query import Query
from backend.domain.ids import OrgId
from backend.domain.reports.cohorts import CohortTables
from backend.domain.reports.overview import by_revenue
from backend.domain.reports.shared_rows import SharedClick, SharedRows, SharedSale, hour_of
from backend.domain.reports.singles import ClicksOf, SalesOf
from backend.domain.reports.views import ReportView
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.cohorts.questions import AskCohorts, AskNewAndReturning, AskTimeToSale
from backend.storage.analytics.query_questions import AskFunnel, AskQuery
from backend.storage.analytics.singles.clicks import SingleClick, SingleClicks
from backend.storage.analytics.singles.sales import SingleSale, SingleSales


@dataclass(frozen=True, slots=True)
class CustomersAnswer:
    """Customers over time: the cohorts, the time to a sale, and new and returning customers.

    `tables` says what is shown of the cohorts.
    """

    tables: CohortTables
    table: CohortTable
    took: TimeToSale
    kinds: NewAndReturning


@dataclass(frozen=True, slots=True)
class ReportAnswer:
    """What a report shows: the answers to the queries of its view, in their order, or what its kind has."""

    view: ReportView
    answers: Sequence[AnalyticsAnswer] = ()
    funnel: FunnelAnswer | None = None
    customers: CustomersAnswer | None = None
    rows: SharedRows | None = None


async def ask_view(
    analytics: Analytics, org_id: OrgId, view: ReportView, *, shows_revenue: bool
) -> ReportAnswer:
    """The answer to the view. Raises InvalidField and StorageError."""
    if view.funnel:
        return ReportAnswer(view, funnel=await analytics.ask(org_id, AskFunnel(view.funnel)))
    if view.cohorts:
        customers = await _customers(analytics, org_id, view, view.cohorts)
        return ReportAnswer(view, customers=customers if shows_revenue else _without_amounts(customers))
    if isinstance(view.rows, ClicksOf):
        return ReportAnswer(view, rows=await _clicks(analytics, org_id, view.queries[0], view.rows))
    if view.rows:
        sales = await _sales(analytics, org_id, view.queries[0], view.rows, shows_revenue=shows_revenue)
        return ReportAnswer(view, rows=sales)
    first, *tables = view.queries
    answer = await analytics.ask(org_id, AskQuery(first))
    totals = answer.totals.values
    questions = [AskQuery(by_revenue(table, totals)) for table in tables]
    return ReportAnswer(view, [answer, *(await analytics.ask_all(org_id, questions) if questions else [])])


async def _customers(
    analytics: Analytics, org_id: OrgId, view: ReportView, tables: CohortTables
) -> CustomersAnswer:
    by_first, query = view.queries
    questions = [AskCohorts(by_first, tables.weeks), AskTimeToSale(query), AskNewAndReturning(query)]
    return CustomersAnswer(tables, *await analytics.ask_all(org_id, questions))


def _without_amounts(answer: CustomersAnswer) -> CustomersAnswer:
    return replace(answer, table=answer.table.without_amounts, kinds=answer.kinds.without_amounts)


async def _clicks(analytics: Analytics, org_id: OrgId, query: Query, of: ClicksOf) -> SharedRows:
    [measure] = query.measures
    questions = [SingleClicks(query, query.limit), AskQuery(query)]
    found, counted = await analytics.ask_all(org_id, questions)
    rows = [_click(click, query.period.zone) for click in found.clicks]
    return SharedRows(of, rows, (), counted.totals.values[measure], counted.notes)


async def _sales(
    analytics: Analytics, org_id: OrgId, query: Query, of: SalesOf, *, shows_revenue: bool
) -> SharedRows:
    found = await analytics.ask(org_id, SingleSales(query, query.limit))
    rows = [_sale(sale, query.period.zone, shows_revenue=shows_revenue) for sale in found.sales]
    return SharedRows(of, (), rows, found.total)


def _click(click: SingleClick, zone: tzinfo) -> SharedClick:
    return SharedClick(
        hour=hour_of(click.at, zone),
        link_name=click.link_name,
        platform=click.platform,
        country=click.country,
        referrer=click.referrer,
        outcome=click.outcome,
        reason=click.reason,
        variant=click.variant,
    )


def _sale(sale: SingleSale, zone: tzinfo, *, shows_revenue: bool) -> SharedSale:
    shared = SharedSale(
        hour=hour_of(sale.at, zone),
        event=sale.name,
        part=sale.part,
        is_credited=sale.is_credited,
        link_name=sale.link_name,
        campaign=sale.campaign,
        country=sale.country,
        platform=sale.platform,
    )
    if not shows_revenue:
        return shared
    return replace(shared, currency=sale.currency, revenue=sale.revenue, refunded=sale.refunded)
