"""/reports: saved views of analytics, each with a URL that anyone may open (docs/reports.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.fields.rules import Uuid
from backend.domain.reports.input import (
    REPORT_FIELDS,
    REPORT_REQUIRED,
    check_report,
)
from backend.domain.reports.json_form import ReportJson, report_json
from backend.domain.reports.report import Report
from backend.domain.reports.views import ReportView
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.mail.recipients import delete_report_and_mails
from backend.rest_api.analytics.counts import has_subscription
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter
from backend.storage.accounts.users.passwords import with_password_hash
from backend.storage.reports import reports
from backend.web.current import resources

_PATH = "/reports"
_ONE = f"{_PATH}/<report_text>"
_ID = PathParameter("reportId", Uuid().schema(), "The report's id.", errors=(error_table.REPORT_NOT_FOUND,))
_CHANGES = BodyFields(REPORT_FIELDS)
_NEW = replace(_CHANGES, required=REPORT_REQUIRED)


@Operation(
    method="GET",
    path=_PATH,
    summary="List the reports",
    needs=(Permission.REPORTS_WRITE,),
    answer="ReportList",
)
async def get_reports() -> dict[str, Any]:
    """All reports, the oldest first."""
    found = await reports.list_reports(resources().database, caller().org_id)
    return {"reports": [_json(report) for report in found]}


@Operation(
    method="POST",
    path=_PATH,
    summary="Save a view of analytics, with a URL that anyone may open",
    needs=(Permission.REPORTS_WRITE,),
    body=_NEW,
    status=201,
    answer="Report",
    errors=(error_table.INSTALLS_NEED_SUBSCRIPTION, error_table.TOO_MUCH_WAITS),
)
async def post_report(fields: dict[str, Any]) -> tuple[ReportJson, int]:
    """Save a view. Whoever has its URL sees what the query asks for, and nothing else."""
    now = resources().clock()
    await _admit(check_report(fields, now))  # before a password is hashed, which takes long
    values = await with_password_hash(fields, caller().org_id)
    report = await reports.create_report(resources().database, caller().org_id, values, now)
    return _json(report), 201


@Operation(
    method="GET",
    path=_ONE,
    summary="Get a report",
    needs=(Permission.REPORTS_WRITE,),
    path_parameter=_ID,
    answer="Report",
)
async def get_report(report_text: str) -> ReportJson:
    """One report."""
    return _json(await _own_report(report_text))


@Operation(
    method="PATCH",
    path=_ONE,
    summary="Change a report",
    needs=(Permission.REPORTS_WRITE,),
    path_parameter=_ID,
    body=_CHANGES,
    answer="Report",
    errors=(error_table.INSTALLS_NEED_SUBSCRIPTION, error_table.TOO_MUCH_WAITS),
)
async def patch_report(report_text: str, fields: dict[str, Any]) -> ReportJson:
    """Change the fields in the body. The URL stays; another password is asked of all who open it."""
    now = resources().clock()
    await _admit(check_report(fields, now, await _own_report(report_text)))
    values = await with_password_hash(fields, caller().org_id)
    return _json(await reports.change_report(resources().database, caller().org_id, report_text, values, now))


@Operation(
    method="DELETE",
    path=_ONE,
    summary="Delete a report",
    needs=(Permission.REPORTS_WRITE,),
    path_parameter=_ID,
    status=204,
)
async def remove_report(report_text: str) -> None:
    """Delete a report. Its URL leads nowhere from now on."""
    await delete_report_and_mails(resources().database, caller().org_id, report_text)


async def _own_report(report_text: str) -> Report:
    return await reports.get_report(resources().database, caller().org_id, report_text)


async def _admit(view: ReportView | None) -> None:
    """Raise ApiError where the caller may not ask this."""
    if view and view.needs_subscription and not await has_subscription():
        raise ApiError(error_table.INSTALLS_NEED_SUBSCRIPTION)


def _json(report: Report) -> ReportJson:
    return report_json(report, resources().settings.base_url)
