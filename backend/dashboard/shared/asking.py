"""Asks what a report shows, each kind in its way. What its readers must not see is in no answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.dashboard.shared.customers.answer import CustomersAnswer, ask_customers
from backend.domain.analytics.answer import AnalyticsAnswer
from backend.domain.analytics.funnels.answer import FunnelAnswer
from backend.domain.ids import OrgId
from backend.domain.reports.links import SharedLinks
from backend.domain.reports.live import LiveAnswer
from backend.domain.reports.overview import by_revenue
from backend.domain.reports.shared_rows import SharedRows
from backend.domain.reports.views import ReportView
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_questions import AskFunnel, AskQuery
from backend.storage.analytics.singles.shared_rows import ask_live, ask_rows
from backend.storage.driver.mongo import Database
from backend.storage.links.lists.with_figures import list_with_figures
from backend.storage.reports.noted import Noted


@dataclass(frozen=True, slots=True)
class ReportAnswer:
    """What a report shows: the answers to the queries of its view, in their order, or what its kind has."""

    view: ReportView
    answers: Sequence[AnalyticsAnswer] = ()
    funnel: FunnelAnswer | None = None
    customers: CustomersAnswer | None = None
    rows: SharedRows | None = None
    links: SharedLinks | None = None
    notes: Noted | None = None
    live: LiveAnswer | None = None


async def ask_view(
    database: Database,
    analytics: Analytics,
    org_id: OrgId,
    view: ReportView,
    now: datetime,
    *,
    shows_revenue: bool,
) -> ReportAnswer:
    """The answer to the view at this time. Raises InvalidField and StorageError."""
    if view.funnel:
        return ReportAnswer(view, funnel=await analytics.ask(org_id, AskFunnel(view.funnel)))
    if view.cohorts:
        by_first, query = view.queries
        customers = await ask_customers(analytics, org_id, by_first, query, view.cohorts)
        return ReportAnswer(view, customers=customers if shows_revenue else customers.without_amounts)
    first, *tables = view.queries
    if view.rows:
        rows = await ask_rows(analytics, org_id, first, view.rows, shows_revenue=shows_revenue)
        return ReportAnswer(view, rows=rows)
    if view.links:
        links = await list_with_figures(database, analytics, org_id, view.links, now)
        return ReportAnswer(view, links=links)
    if view.live:
        live = await ask_live(analytics, org_id, first, view.live, now, shows_revenue=shows_revenue)
        return ReportAnswer(view, live=live)
    answer = await analytics.ask(org_id, AskQuery(first))
    totals = answer.totals.values
    questions = [AskQuery(by_revenue(table, totals)) for table in tables]
    return ReportAnswer(view, [answer, *(await analytics.ask_all(org_id, questions) if questions else [])])
