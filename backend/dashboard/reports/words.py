"""What a report shows, in words for its organization."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.dashboard.analytics.view import period_in_words
from backend.dashboard.frame.blueprint import org_id
from backend.dashboard.shared.filter_words import field_name, filters_in_words
from backend.dashboard.shared.shown import measure_name
from backend.domain.analytics.moving_period import MovingPeriod
from backend.domain.analytics.query import Query
from backend.domain.errors import FieldError
from backend.domain.reports.json_form import report_url
from backend.domain.reports.report import Report
from backend.domain.reports.saved_query import read_query
from backend.web.current import resources


@dataclass(frozen=True, slots=True)
class QueryWords:
    """A query in words: its period, its columns, what its rows are of, and its filters."""

    period: str
    zone: str
    columns: str
    rows: str
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
        words = await query_words(report.query, report.query_at(now))
    except FieldError as error:
        return ListedReport(report, url, None, is_over, f"{error}.")
    return ListedReport(report, url, words, is_over)


async def kept_words(kept: Mapping[str, Any], now: datetime) -> QueryWords:
    """What the fields of a query say that a form has kept. Raises FieldError."""
    return await query_words(kept, read_query(kept, now, shows_revenue=True))


async def query_words(saved: Mapping[str, Any], query: Query) -> QueryWords:
    """The query, which was read from these fields, in words."""
    return QueryWords(
        _period_words(saved, query),
        str(query.period.zone),
        ", ".join(measure_name(measure) for measure in query.measures),
        ", ".join(field_name(by) for by in query.group_by),
        await filters_in_words(resources().database, org_id(), query),
    )


def _period_words(saved: Mapping[str, Any], query: Query) -> str:
    if "period" in saved:
        return MovingPeriod(saved["period"]).words.capitalize()
    words = period_in_words(query.period)
    return words if "to" in saved else f"{words}, and on"
