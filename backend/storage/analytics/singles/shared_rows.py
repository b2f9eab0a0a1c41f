"""Asks for single clicks and sales as readers without an account see them, and for the last minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from backend.domain.analytics.query import Query
from backend.domain.ids import OrgId
from backend.domain.reports.live import (
    MOST_LIVE_ROWS,
    LiveAnswer,
    LiveFact,
    LiveFigure,
    live_counts,
    live_since,
)
from backend.domain.reports.shared_rows import SharedClick, SharedRows, SharedSale, hour_of
from backend.domain.reports.singles import ClicksOf, SalesOf
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.analytics.singles.clicks import ClickPage, SingleClick, SingleClicks
from backend.storage.analytics.singles.sales import SingleSale, SingleSales, SingleSalesPage


async def ask_rows(
    analytics: Analytics, org_id: OrgId, query: Query, of: ClicksOf | SalesOf, *, shows_revenue: bool
) -> SharedRows:
    """The newest rows, as many as the query's limit says. Raises InvalidField and StorageError."""
    if isinstance(of, ClicksOf):
        return await _clicks(analytics, org_id, query, of)
    found = await analytics.ask(org_id, SingleSales(query, query.limit))
    sales = found.sales if shows_revenue else _without_amounts(found.sales)
    return SharedRows(of, (), [_sale(sale, query.period.zone) for sale in sales], found.total)


async def ask_live(
    analytics: Analytics,
    org_id: OrgId,
    query: Query,
    figures: Sequence[LiveFigure],
    now: datetime,
    *,
    shows_revenue: bool,
) -> LiveAnswer:
    """What happened in the last minutes. Of each figure, at most MOST_LIVE_ROWS rows are read."""
    since = live_since(now)
    pages = await analytics.ask_all(org_id, [_question(query, figure) for figure in figures])
    counts = [
        live_counts(figure, _facts(page, shows_revenue=shows_revenue), since, MOST_LIVE_ROWS)
        for figure, page in zip(figures, pages, strict=True)
    ]
    return LiveAnswer(since, counts)


def _question(query: Query, figure: LiveFigure) -> SingleClicks | SingleSales:
    question = SingleClicks if figure is LiveFigure.CLICKS else SingleSales
    return question(replace(query, measures=(figure.measure,)), MOST_LIVE_ROWS)


def _facts(page: ClickPage | SingleSalesPage, *, shows_revenue: bool) -> list[LiveFact]:
    if isinstance(page, ClickPage):
        return [LiveFact(click.at, click.link_name, click.country) for click in page.clicks]
    return [
        LiveFact(sale.at, sale.link_name, sale.country, sale.part, sale.currency, sale.revenue)
        for sale in (page.sales if shows_revenue else _without_amounts(page.sales))
    ]


def _without_amounts(sales: Sequence[SingleSale]) -> list[SingleSale]:
    return [replace(sale, currency=None, revenue=None, refunded=None) for sale in sales]


async def _clicks(analytics: Analytics, org_id: OrgId, query: Query, of: ClicksOf) -> SharedRows:
    [measure] = query.measures
    questions = [SingleClicks(query, query.limit), AskQuery(query)]
    found, counted = await analytics.ask_all(org_id, questions)
    rows = [_click(click, query.period.zone) for click in found.clicks]
    return SharedRows(of, rows, (), counted.totals.values[measure], counted.notes)


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


def _sale(sale: SingleSale, zone: tzinfo) -> SharedSale:
    return SharedSale(
        hour=hour_of(sale.at, zone),
        event=sale.name,
        part=sale.part,
        is_credited=sale.is_credited,
        link_name=sale.link_name,
        campaign=sale.campaign,
        country=sale.country,
        platform=sale.platform,
        currency=sale.currency,
        revenue=sale.revenue,
        refunded=sale.refunded,
    )
