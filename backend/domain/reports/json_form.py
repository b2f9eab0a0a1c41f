"""Reports as answers show them (the extensions' `POST /reports`)."""

from __future__ import annotations

from typing import Annotated, TypedDict

from backend.domain.fields.shapes import AnyObject, TimeText, UuidText, json_of
from backend.domain.reports.report import Report
from backend.domain.reports.views import ViewKind

# Below the base URL; then the token.
REPORT_PATH = "/shared"


def report_url(base_url: str, report: Report) -> str:
    """The URL by which anyone may open the report."""
    return f"{base_url}{REPORT_PATH}/{report.token}"


class ReportJson(TypedDict):
    """A report that anyone may open who has its URL."""

    id: UuidText
    name: str
    url: Annotated[str, "Whoever has it may open the report."]
    kind: ViewKind
    query: Annotated[AnyObject, "As it was given, without fields that are null."]
    shows_revenue: bool
    shows_notes: Annotated[bool, "Whether its chart has the organization's notes."]
    has_password: bool
    embed_origins: list[str]
    expires_at: TimeText | None
    created_at: TimeText
    opened_at: Annotated[TimeText | None, "When it was opened last, to the minute; null: never."]


def report_json(report: Report, base_url: str) -> ReportJson:
    """The report, as the organization that it belongs to sees it."""
    has_password = report.password_hash is not None
    return json_of(ReportJson, report, url=report_url(base_url, report), has_password=has_password)
