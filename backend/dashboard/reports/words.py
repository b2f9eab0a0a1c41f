"""What a report shows, in words for its organization."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.dashboard.analytics.tables import FILTERS_IN_WORDS
from backend.dashboard.analytics.view import period_in_words
from backend.dashboard.cohorts.triangle import SHOWN
from backend.dashboard.frame.blueprint import org_id
from backend.dashboard.funnels.links import link_names
from backend.dashboard.shared.live import LIVE_WORDS
from backend.dashboard.shared.rows import ROWS_NAMES
from backend.domain.analytics.funnels.funnel import Funnel
from backend.domain.analytics.funnels.words import filters_words, step_words
from backend.domain.analytics.moving_period import MovingPeriod
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import field_label
from backend.domain.errors import FieldError
from backend.domain.reports.json_form import report_url
from backend.domain.reports.report import Report
from backend.domain.reports.views import ReportView, ViewKind, read_view
from backend.storage.reports.view_filters import filters_of_view
from backend.web.current import resources

_THEN = " \N{RIGHTWARDS ARROW} "
# What the columns and the rows are called, and what the words of a list begin with.
_TABLE = (("Columns", "A row for each"), "")
_OVERVIEW = (("Figures", "A table for each"), "Overview: ")

ViewParts = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class QueryWords:
    """A view in words: its period, what it shows, and its filters.

    `parts` are pairs of a label and words, such as ("Columns", "Clicks, Visitors"); `shown` is all in one.
    """

    period: str
    zone: str
    parts: ViewParts
    shown: str
    filters: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ListedReport:
    """A report, its URL, and what it shows; `problem` says why it can't be shown any more."""

    report: Report
    url: str
    words: QueryWords | None
    is_over: bool
    problem: str = ""


async def listed_report(report: Report, now: datetime) -> ListedReport:
    """What the list of reports says of this one."""
    url = report_url(resources().settings.base_url, report)
    is_over = report.is_over(now)
    try:
        words = await _words(report.query, report.view_at(now))
    except FieldError as error:
        return ListedReport(report, url, None, is_over, f"{error}.")
    return ListedReport(report, url, words, is_over)


async def kept_words(kind: ViewKind, kept: Mapping[str, Any], now: datetime) -> QueryWords:
    """What the fields of a query say that a form has kept. Raises FieldError."""
    return await _words(kept, read_view(kind, kept, now, shows_revenue=True))


async def _words(saved: Mapping[str, Any], view: ReportView) -> QueryWords:
    """The view, which was read from these fields, in words."""
    parts, shown = await _shown(view)
    filters = await filters_of_view(resources().database, org_id(), view, FILTERS_IN_WORDS)
    period = LIVE_WORDS if view.live else _period_words(saved, view.period)
    return QueryWords(period, str(view.period.zone), parts, shown, filters)


async def _shown(view: ReportView) -> tuple[ViewParts, str]:
    """What the view shows, in parts and all in one."""
    if view.funnel:
        parts = await _funnel_parts(view.funnel.funnel)
        return parts, "Funnel: " + ", by ".join(words for _, words in parts)
    if view.cohorts:
        tables = ", ".join(SHOWN[figure] for figure in view.cohorts.figures)
        added_up = ", added up" if view.cohorts.is_added_up else ""
        return [("A table for each", tables + added_up)], f"Cohorts: {tables}{added_up}"
    if view.links:
        columns = ", ".join(measure.label for measure in view.links.query.measures)
        return [("Columns", columns), ("Order", view.links.order_words)], f"Links: {columns}"
    if view.live:
        figures = ", ".join(figure.measure.label for figure in view.live)
        return [("Figures", figures)], f"Live: {figures}"
    if view.rows:
        return [("Rows", ROWS_NAMES[view.rows])], ROWS_NAMES[view.rows]
    first, *tables_of = view.queries
    columns = ", ".join(measure.label for measure in first.measures)
    by = ", ".join(field_label(by) for query in tables_of or [first] for by in query.group_by)
    labels, beginning = _OVERVIEW if view.kind is ViewKind.OVERVIEW else _TABLE
    parts = [(label, words) for label, words in zip(labels, (columns, by), strict=True) if words]
    return parts, beginning + columns + (f" by {by.lower()}" if by else "")


async def _funnel_parts(funnel: Funnel) -> ViewParts:
    names = await link_names(org_id(), funnel.steps)
    steps = [", ".join([step_words(step), *filters_words(step, names)]) for step in funnel.steps]
    by = [("Split by", field_label(funnel.group_by))] if funnel.group_by else []
    return [("Funnel", _THEN.join(steps)), *by]


def _period_words(saved: Mapping[str, Any], period: QueryPeriod) -> str:
    if "period" in saved:
        return MovingPeriod(saved["period"]).words.capitalize()
    words = period_in_words(period)
    return words if "to" in saved else f"{words}, and on"
