"""Asks for what a mail shows of a report."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from backend.domain.analytics.funnels.funnel import FunnelQuery
from backend.domain.analytics.period import Comparison
from backend.domain.analytics.query import Query
from backend.domain.reports.recipient import Recipient
from backend.domain.reports.report import Report
from backend.domain.reports.views import ReportView
from backend.mail.figures.customers import MailedCustomers, mailed_customers
from backend.mail.figures.funnels import mailed_funnel
from backend.mail.figures.links import mailed_links
from backend.mail.figures.mailed import MailedReport
from backend.mail.figures.noted import mailed_notes
from backend.mail.figures.rows import filters_in, mailed_query, mailed_rows
from backend.mail.figures.singles import MOST_MAILED_SINGLES, mailed_singles
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.cohorts.questions import AskNewAndReturning, AskTimeToSale
from backend.storage.analytics.query_questions import AskFunnel, AskQuery
from backend.storage.analytics.singles.shared_rows import ask_rows
from backend.storage.driver.mongo import Database
from backend.storage.links.lists.with_figures import list_with_figures
from backend.storage.links.named_links import links_in_filters
from backend.storage.reports.noted import read_noted_of
from backend.storage.reports.view_filters import filters_of_view

QueryT = TypeVar("QueryT", Query, FunnelQuery)


async def figures_of(
    database: Database,
    analytics: Analytics,
    report: Report,
    reader: Recipient,
    now: datetime,
    *,
    has_subscription: bool,
) -> MailedReport:
    """What the reader's mail of now shows of the report.

    Raises InvalidField where the report can't be made any more, and FactsNotReady and NoAnswer.
    """
    view = report.view_at(now, has_subscription=has_subscription)
    figures = await _figures(database, analytics, report, view, reader=reader, now=now)
    return replace(
        figures,
        filters=await filters_of_view(database, reader.org_id, view, filters_in(reader.language)),
        noted=await _noted(database, analytics, view, reader, now) if report.shows_notes else (),
    )


async def _noted(
    database: Database, analytics: Analytics, view: ReportView, reader: Recipient, now: datetime
) -> list[tuple[str, str]]:
    if not view.has_course:
        return []
    query = replace(view.queries[0], period=reader.period_at(now))
    noted = await read_noted_of(database, analytics, reader.org_id, query)
    return mailed_notes(noted, query.period, reader.language)


async def _figures(
    database: Database,
    analytics: Analytics,
    report: Report,
    view: ReportView,
    *,
    reader: Recipient,
    now: datetime,
) -> MailedReport:
    org_id, language = reader.org_id, reader.language
    if view.funnel:
        funnels = _of_last_two(view.funnel, reader, now)
        answer, before = await analytics.ask_all(org_id, [AskFunnel(funnel) for funnel in funnels])
        links = await links_in_filters(database, org_id, [step.filters for step in view.funnel.funnel.steps])
        return mailed_funnel(answer, before, links, language)
    if view.cohorts:
        query, earlier = _of_last_two(view.queries[-1], reader, now)
        questions = [AskNewAndReturning(query), AskNewAndReturning(earlier), AskTimeToSale(query)]
        found = MailedCustomers(*await analytics.ask_all(org_id, questions))
        return mailed_customers(found, query, earlier, language, shows_revenue=report.shows_revenue)
    if view.rows:
        query = replace(mailed_query(view, reader, now, MOST_MAILED_SINGLES), compare=None)
        rows = await ask_rows(analytics, org_id, query, view.rows, shows_revenue=report.shows_revenue)
        return mailed_singles(rows, query, language)
    query = mailed_query(view, reader, now)
    if view.links:
        listed = replace(view.links, query=query)
        return mailed_links(await list_with_figures(database, analytics, org_id, listed, now), language)
    return mailed_rows(await analytics.ask(org_id, AskQuery(query)), language)


def _of_last_two(query: QueryT, reader: Recipient, now: datetime) -> tuple[QueryT, QueryT]:
    """The query about the reader's last whole week or month, and about the one before."""
    period = reader.period_at(now)
    last = replace(query, period=period, now=now)
    return last, replace(last, period=period.compared(Comparison.PREVIOUS))
