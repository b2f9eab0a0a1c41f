"""/shared/{token}: the page of a report, for whoever has its URL, and its rows as CSV files.

Who opens it: an agency, a client, a colleague without an account, or the reader of a page that shows it in a
frame. What they decide by it: whether the campaign that they made or paid for works. So it shows the view
that was saved, says what it is of and of which time, and has nothing to set: no argument of the address is
read.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Any

from quart import Response, abort, redirect, request, url_for
from werkzeug.exceptions import TooManyRequests

from backend.dashboard.analytics.tables import FILTERS_IN_WORDS
from backend.dashboard.analytics.view import period_in_words
from backend.dashboard.frame.form import read_fields
from backend.dashboard.funnels.links import link_names
from backend.dashboard.funnels.shown import shown_funnel
from backend.dashboard.shared.answers import LIVE_SECONDS
from backend.dashboard.shared.asking import ReportAnswer
from backend.dashboard.shared.blueprint import Frames, public_page, shared
from backend.dashboard.shared.csv_file import csv_files
from backend.dashboard.shared.customers.shown import shown_customers
from backend.dashboard.shared.links import shown_links
from backend.dashboard.shared.live import LIVE_WORDS, shown_live
from backend.dashboard.shared.notes import shown_marks
from backend.dashboard.shared.passwords import (
    PASSWORD,
    RefusedPassword,
    has_pass,
    new_pass,
    refuse,
    remember,
)
from backend.dashboard.shared.rows import shown_singles
from backend.dashboard.shared.service import SharedReportsService
from backend.dashboard.shared.shown import shown_overview, shown_report
from backend.domain.analytics.query import Query
from backend.domain.fields.rules import is_token
from backend.domain.reports.json_form import REPORT_PATH
from backend.domain.reports.report import Report
from backend.domain.reports.views import ViewKind
from backend.rate_limits.service_limits import SHARED_REPORTS_OF_ADDRESS
from backend.storage.driver.lanes import owned_by
from backend.storage.driver.mongo import StorageError
from backend.storage.reports.reports import find_report_by_token, note_opening
from backend.storage.reports.view_filters import filters_of_view
from backend.web.current import of_app, of_request, resources, visitor_network

_ONE = f"{REPORT_PATH}/<token>"
_METHODS = ["GET", "POST"]
# Of other kinds it is that of a table.
_TEMPLATES = {
    ViewKind.FUNNEL: "funnel",
    ViewKind.COHORTS: "cohorts",
    ViewKind.CLICKS: "rows",
    ViewKind.SALES: "rows",
    ViewKind.LINKS: "links",
    ViewKind.LIVE: "live",
}


@dataclass(frozen=True, slots=True)
class _Request:
    """A request for a report that exists and is open, with the fields of its form, if it has one."""

    report: Report
    fields: Mapping[str, str] = field(default_factory=dict)


@shared.route(_ONE, methods=_METHODS)
async def report_page(token: str) -> Response:
    """The report, or the form that asks for its password."""
    asked = await _asked(token)
    report, is_sent = asked.report, PASSWORD in asked.fields
    if is_sent and report.password_hash:
        if refused := await refuse(report, asked.fields[PASSWORD]):
            return await _ask_password(report, refused)
        if request.headers.get("Sec-Fetch-Dest") == "document":
            # Not in a frame, where the next request would have no cookie: so this page can be loaded anew.
            answer = redirect(url_for("shared.report_page", token=token), 303)
            remember(report, answer)  # type: ignore[arg-type]
            return answer  # type: ignore[return-value]
    elif not has_pass(report, asked.fields):
        return await _ask_password(report)
    response = await _report(report)
    if is_sent and report.password_hash:
        remember(report, response)
    return response


@shared.route(f"{_ONE}/<name>.csv", methods=_METHODS)
async def report_csv(token: str, name: str) -> Response:
    """The rows of the report, or of one of the tables that it has besides, as a file."""
    asked = await _asked(token)
    report = asked.report
    if not has_pass(report, asked.fields):
        return await _ask_password(report)
    form, shows_revenue = resources().short_url_form, report.shows_revenue
    files = csv_files(await _answer(report), form, shows_revenue=shows_revenue)
    if name not in files:
        abort(404)
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return Response(files[name](), content_type="text/csv; charset=utf-8", headers=headers)


async def _asked(token: str) -> _Request:
    """The report with this token. Answers 404 if there is none, 410 after its end, and 429 for too many
    requests from an address."""
    state = resources().rate_limits.shared_reports.count(visitor_network())
    if not state.allowed:
        resources().rate_limits.rate_limited_counts.add(SHARED_REPORTS_OF_ADDRESS, None)
        raise TooManyRequests(retry_after=state.reset_after)
    report = await find_report_by_token(resources().database, token) if is_token(token) else None
    if report is None:
        abort(404)
    owned_by(report.org_id)
    if report.is_over(resources().clock()):
        abort(410)
    of_request(Frames).origins = report.embed_origins
    return _Request(report, await read_fields() if request.method == "POST" else {})


async def _answer(report: Report) -> ReportAnswer:
    """What the report shows. Answers 404 if its organization was deleted a moment ago."""
    answer = await of_app(SharedReportsService).answers.answer(report)
    if answer is None:
        abort(404)
    return answer


async def _report(report: Report) -> Response:
    answer = await _answer(report)
    period = answer.view.period
    response = await public_page(
        f"{_TEMPLATES.get(report.kind, 'report')}.html",
        name=report.name,
        **await _shown(report, answer),
        period=LIVE_WORDS if answer.live else period_in_words(period),
        zone=str(period.zone),
        csv_path=partial(url_for, "shared.report_csv", token=report.token),
        page_pass=new_pass(report),
        live_seconds=LIVE_SECONDS,
        now=resources().clock().astimezone(period.zone),
    )
    if request.method != "HEAD":
        with suppress(StorageError):  # the report is shown all the same
            await note_opening(resources().database, report, resources().clock())
    return response


async def _shown(report: Report, answer: ReportAnswer) -> dict[str, Any]:
    """What the page's template shows besides what is around all reports."""
    if answer.funnel:
        funnel = answer.funnel.query.funnel
        names = await link_names(report.org_id, funnel.steps)
        return {"shown": shown_funnel(answer.funnel, names), "funnel": funnel}
    filters = await filters_of_view(resources().database, report.org_id, answer.view, FILTERS_IN_WORDS)
    marks = shown_marks(answer, answer.notes) if answer.notes else ()
    query = answer.view.queries[-1]
    return {"shown": _parts(report, answer), "filters": filters, "marks": marks} | _credited(report, query)


def _parts(report: Report, answer: ReportAnswer) -> object:
    """The parts of the page that its kind has."""
    if answer.customers:
        return shown_customers(answer.customers, answer.view.queries[-1])
    if answer.rows:
        return shown_singles(answer.rows, shows_revenue=report.shows_revenue)
    if answer.links and answer.view.links:
        return shown_links(answer.links, answer.view.links, resources().short_url_form)
    if answer.live:
        return shown_live(answer.live, answer.view.period.zone)
    if report.kind is ViewKind.OVERVIEW:
        return shown_overview(answer.answers)
    return shown_report(answer.answers[0])


def _credited(report: Report, query: Query) -> dict[str, Any]:
    """Whether amounts are shown, and of single sales who gets the credit."""
    credit = query.rules.in_words if report.kind in {ViewKind.SALES, ViewKind.LINKS} else ""
    return {"credit": credit, "shows_revenue": report.shows_revenue}


async def _ask_password(report: Report, refused: RefusedPassword | None = None) -> Response:
    """The form that asks for the password. It says nothing of the report, not even its name."""
    status = refused.status if refused else 200
    path = url_for("shared.report_page", token=report.token)
    response = await public_page("password.html", status, path=path, refused=refused)
    if refused and refused.retry_after:
        response.headers["Retry-After"] = str(ceil(refused.retry_after))
    return response
