"""/reports: the views that an organization shares, and the forms to share and to change one.

Who opens it: whoever has given figures to an agency or a client, or is about to. What they decide by it: who
may still look, whether anybody does, and which address to pass on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quart import Response, abort, request, url_for

from backend.dashboard.analytics.answers import view_of_request
from backend.dashboard.analytics.events import marked_properties
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.analytics.view import FILTERS
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import is_unchanged, of_stored
from backend.dashboard.funnels.grouping import funnel_view
from backend.dashboard.links.link_query import read_link_query
from backend.dashboard.reports.form import (
    MEASURE_PREFIX,
    NOT_STORED,
    TABLE_PREFIX,
    Fields,
    Problems,
    add_problems,
    fields_of,
    figures_to_choose,
    new_fields,
    read_report,
    sent_fields,
)
from backend.dashboard.reports.saved_view import (
    CHOICES,
    GROUPINGS,
    TABLE_FIELDS,
    default_grouping,
    figures_of,
    figures_of_cohorts,
    kind_in,
    read_json,
    saved_funnel_json,
    saved_list_json,
    saved_live_json,
    tables_of,
    view_json,
)
from backend.dashboard.reports.words import QueryWords, kept_words, listed_report
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.analytics.query import Field, QueryField, field_label
from backend.domain.errors import FieldError
from backend.domain.fields.rules import Word
from backend.domain.ids import ReportId
from backend.domain.reports.links import ListFigure
from backend.domain.reports.live import LiveFigure
from backend.domain.reports.report import Report
from backend.domain.reports.views import ViewKind
from backend.mail.recipients import delete_report_and_mails
from backend.storage.accounts.users.passwords import with_password_hash
from backend.storage.reports.recipients import count_recipients_of
from backend.storage.reports.reports import (
    change_report,
    create_report,
    get_report,
    list_reports,
)
from backend.storage.resources.things import Things
from backend.web.current import resources

# What is chosen to be shown, of kinds of which that can be chosen.
_COLUMNS = {
    ViewKind.TABLE: "Columns",
    ViewKind.OVERVIEW: "Figures",
    ViewKind.COHORTS: "A table for each",
    ViewKind.LINKS: "Columns",
    ViewKind.LIVE: "Figures",
}


async def share_form(
    fields: Fields, problems: Problems, words: QueryWords, kinds: Sequence[tuple[str, str, bool]] = ()
) -> Response:
    """The form; `kinds` are what else may be shared of the view, and the addresses of forms for that."""
    properties = await marked_properties()
    kind = ViewKind(fields["kind"])
    return await page(
        "reports/share.html",
        422 if problems else 200,
        fields=fields,
        problems=problems,
        words=words,
        kinds=kinds,
        has_amounts=kind.has_amounts,
        has_chart=kind.has_chart,
        columns=_COLUMNS.get(kind, ""),
        tables=[(f"{TABLE_PREFIX}{table}", field_label(table)) for table in (*TABLE_FIELDS, *properties)],
        measures=[
            (f"{MEASURE_PREFIX}{name}", words_of) for name, words_of in figures_to_choose(kind).items()
        ],
        groupings=[
            ("", "Only the totals"),
            *((by.value, field_label(by)) for by in _groupings(fields, properties)),
        ],
    )


def _groupings(fields: Fields, properties: Sequence[EventProperty]) -> Sequence[QueryField]:
    """What rows may be of, properties of events among it; hours only where the view has them."""
    return (*([Field.HOUR] if fields["by"] == Field.HOUR else []), *GROUPINGS, *properties)


_KINDS = ((ViewKind.OVERVIEW, "Figures, chart and tables"), (ViewKind.TABLE, "One table"))


async def _stored(report_id: ReportId) -> Fields:
    fields = fields_of(await get_report(resources().database, org_id(), report_id))
    return {name: text for name, text in fields.items() if name not in NOT_STORED}


@dashboard.get("/reports")
@needs(Permission.ANALYTICS_READ)
async def reports() -> Response:
    """All reports, each with its URL, whom it is open to, and when it was opened last."""
    now = resources().clock()
    found = await list_reports(resources().database, org_id())
    listed = [await listed_report(report, now) for report in found]
    return await page("reports/reports.html", listed=listed, zone=zone_of_browser())


@dashboard.get("/reports/new")
@needs(Permission.REPORTS_WRITE)
async def reports_new() -> Response:
    """The form that shares the view in the address."""
    match request.args.get("kind"):
        case ViewKind.FUNNEL:
            return await _new_funnel()
        case ViewKind.LINKS:
            query = await read_link_query()
            return await _new(ViewKind.LINKS, "Links", saved_list_json(query), [*ListFigure])
        case ViewKind.LIVE:
            kept, figures = saved_live_json(request.args.getlist("type"), zone_of_browser())
            return await _new(ViewKind.LIVE, "Live", kept, figures)
    return await _new_of_view()


async def _new(
    kind: ViewKind, name: str, kept: Mapping[str, Any], figures: Sequence[ListFigure | LiveFigure]
) -> Response:
    """The form that shares a list of links or Live, with the figures that its page shows."""
    try:
        words = await kept_words(kind, kept, resources().clock())
    except FieldError:  # a filter that no query could have
        abort(404)
    return await share_form(new_fields(kind, name, kept, measures=figures), {}, words)


async def _new_of_view() -> Response:
    """The form that shares a view of analytics."""
    properties = await marked_properties()
    view = await view_of_request(CHOICES, (*FILTERS, Field.EVENT, *properties))
    kind, kept = kind_in(view), view_json(view)
    try:
        words = await kept_words(kind, kept, resources().clock())
    except FieldError:  # a filter that no query could have
        abort(404)
    fields = new_fields(
        kind,
        _suggested_name(kind, words),
        kept,
        by=default_grouping(view).value,
        measures=figures_of_cohorts(view) if kind is ViewKind.COHORTS else figures_of(view),
        tables=tables_of(view, properties),
    )
    path = url_for("dashboard.reports_new")
    kinds = [(words_of, view.address(path, kind=other.value), other is kind) for other, words_of in _KINDS]
    return await share_form(fields, {}, words, kinds if kind in dict(_KINDS) else ())


async def _new_funnel() -> Response:
    """The form that shares a saved funnel as the page of it shows it."""
    saved = await Things(SAVED_FUNNELS).get(resources().database, org_id(), request.args.get("funnel", ""))
    view, funnel = await funnel_view(saved)
    kept = saved_funnel_json(view, funnel)
    words = await kept_words(ViewKind.FUNNEL, kept, resources().clock())
    return await share_form(new_fields(ViewKind.FUNNEL, saved.name, kept), {}, words)


@dashboard.post("/reports")
@needs(Permission.REPORTS_WRITE)
@once
async def reports_add() -> Response:
    """Share a view."""
    fields, problems = sent_fields(), Problems()
    values = await with_password_hash(read_report(fields, problems), org_id())
    if not problems:
        try:
            await create_report(resources().database, org_id(), values, resources().clock())
            return redirect_with_notice("reports", "report-made")
        except FieldError as error:
            add_problems([error], problems)
    try:
        kind = ViewKind(Word(ViewKind).parse("kind", fields["kind"]))
        words = await kept_words(kind, read_json(fields["query"]), resources().clock())
    except FieldError:  # no form of ours has such a query
        abort(400)
    return await share_form(fields, problems, words)


@dashboard.get("/reports/<report_id>")
@needs(Permission.REPORTS_WRITE)
@of_stored(_stored)
async def reports_one(report_id: ReportId) -> Response:
    """The form with the report's fields."""
    report = await get_report(resources().database, org_id(), report_id)
    return await _change_form(report, fields_of(report), {})


@dashboard.post("/reports/<report_id>")
@needs(Permission.REPORTS_WRITE)
@of_stored(_stored)
async def reports_change(report_id: ReportId) -> Response:
    """Change the report; its view and its URL stay."""
    report = await get_report(resources().database, org_id(), report_id)
    fields, problems = sent_fields(report), Problems()
    changes = await with_password_hash(read_report(fields, problems), org_id())
    if not problems:
        if is_unchanged("expires_at"):
            del changes["expires_at"]  # one that has passed may stay, and one with seconds keeps them
        try:
            await change_report(resources().database, org_id(), report_id, changes, resources().clock())
            return redirect_with_notice("reports", "report-changed")
        except FieldError as error:
            add_problems([error], problems)
    return await _change_form(report, fields, problems)


@dashboard.post("/reports/<report_id>/delete")
@needs(Permission.REPORTS_WRITE)
async def reports_delete(report_id: ReportId) -> Response:
    """Revoke the report: its URL leads nowhere any more."""
    await delete_report_and_mails(resources().database, org_id(), report_id)
    return redirect_with_notice("reports", "report-deleted")


async def _change_form(report: Report, fields: Fields, problems: Problems) -> Response:
    return await page(
        "reports/report.html",
        422 if problems else 200,
        fields=fields,
        problems=problems,
        shown=await listed_report(report, resources().clock()),
        has_amounts=report.kind.has_amounts,
        has_chart=report.kind.has_chart,
        mail_readers=await count_recipients_of(resources().database, org_id(), report.id),
    )


def _suggested_name(kind: ViewKind, words: QueryWords) -> str:
    """A name that says what is filtered, or else what is shown, for whoever does not type one."""
    shown = "All figures" if kind in dict(_KINDS) else words.shown.partition(":")[0]
    return ", ".join(value for _, value in words.filters)[:100] or shown
