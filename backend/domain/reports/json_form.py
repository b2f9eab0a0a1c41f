"""Reports as answers show them (the extensions' `POST /reports`)."""

from __future__ import annotations

from typing import Any

from backend.domain.fields.json_times import time_json
from backend.domain.reports.report import Report

# Below the base URL; then the token.
REPORT_PATH = "/shared"


def report_url(base_url: str, report: Report) -> str:
    """The URL by which anyone may open the report."""
    return f"{base_url}{REPORT_PATH}/{report.token}"


def report_json(report: Report, base_url: str) -> dict[str, Any]:
    """The report, as the organization that it belongs to sees it."""
    return {
        "id": report.id,
        "name": report.name,
        "url": report_url(base_url, report),
        "kind": report.kind.value,
        "query": dict(report.query),
        "shows_revenue": report.shows_revenue,
        "shows_notes": report.shows_notes,
        "has_password": report.password_hash is not None,
        "embed_origins": list(report.embed_origins),
        "expires_at": time_json(report.expires_at) if report.expires_at else None,
        "created_at": time_json(report.created_at),
        "opened_at": time_json(report.opened_at) if report.opened_at else None,
    }
