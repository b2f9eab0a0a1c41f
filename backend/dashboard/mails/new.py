"""/mails/new: the form that asks somebody whether they want a report's figures by mail."""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id, user
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.mails.form import OF_A_TRY, Fields, Problems, new_fields, read_fields, sent_fields
from backend.dashboard.mails.mails import ask, list_page, problem_of_try
from backend.dashboard.mails.shown import FREQUENCIES
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import FieldError, ItemUnknown
from backend.domain.fields.time_zones import place_names
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import RECIPIENT_FIELDS
from backend.mail.numbers import language_name
from backend.storage.reports.reports import list_reports
from backend.web.current import resources

_NO_REPORT = "must be one of your reports"


@dashboard.get("/mails/new")
@needs(Permission.REPORTS_WRITE)
async def mails_new() -> Response:
    """The form that asks somebody."""
    return await _form_page(new_fields(), {})


@dashboard.post("/mails")
@needs(Permission.REPORTS_WRITE)
@once
async def mails_add() -> Response:
    """Ask somebody whether they want a report's figures."""
    if not resources().settings.sends_mail:
        return await list_page(status=409)
    fields, problems = sent_fields(), Problems()
    values = read_fields(fields, problems, tuple(RECIPIENT_FIELDS))
    if problems:
        return await _form_page(fields, problems)
    try:
        return await ask(values)
    except FieldError as error:
        problems[error.field if error.field in fields else "address"] = error.rule
    except ItemUnknown:
        problems["report_id"] = _NO_REPORT
    return await _form_page(fields, problems)


@dashboard.post("/mails/try")
@needs(Permission.REPORTS_WRITE)
async def mails_try_form() -> Response:
    """Send the user what is chosen in the form, which stays as it is."""
    if not resources().settings.sends_mail:
        return await list_page(status=409)
    fields, problems = sent_fields(), Problems()
    values = read_fields(fields, problems, OF_A_TRY)
    if problems:
        return await _form_page(fields, problems)
    if problem := await problem_of_try(values):
        return await _form_page(fields, {}, problem=problem)
    return await _form_page(fields, {}, said=f"The mail is on its way to {user().email}.")


async def _form_page(fields: Fields, problems: Problems, *, problem: str = "", said: str = "") -> Response:
    found = await list_reports(resources().database, org_id())
    reports = [report for report in found if report.kind.is_mailed]
    return await page(
        "mails/new.html",
        422 if problems or problem else 200,
        fields=fields,
        problems=problems,
        problem=problem,
        said=said,
        reports=[
            (report.id, report.name if report.shows_revenue else f"{report.name} (without revenue)")
            for report in reports
        ],
        frequencies=FREQUENCIES.items(),
        languages=[(language.value, language_name(language)) for language in Language],
        zones=place_names(),
        settings=resources().settings,
    )
