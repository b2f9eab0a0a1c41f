"""/destinations/reports: links that visitors reported."""

from __future__ import annotations

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.domain.accounts.permissions import Permission
from backend.domain.links.reports import ReportReason
from backend.storage.links.reports import list_reported
from backend.web.current import resources

_MOST_LINKS = 100
_REASONS = {
    ReportReason.FRAUD: "Fraud",
    ReportReason.MALWARE: "Harmful software",
    ReportReason.SPAM: "Unwanted advertising",
    ReportReason.ILLEGAL: "Something illegal",
    ReportReason.OTHER: "Something else",
}


@dashboard.get("/destinations/reports")
@needs(Permission.LINKS_READ)
async def destinations_reports() -> Response:
    """The reported links, the latest first, each with its latest reports."""
    rows = await list_reported(resources().database, org_id(), _MOST_LINKS)
    return await page("destinations/reports.html", rows=rows, reasons=_REASONS)
