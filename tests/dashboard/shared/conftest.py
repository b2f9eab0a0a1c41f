"""Fixtures of the tests of shared reports: somebody without an account, and reports to open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from datetime import datetime, timedelta
from typing import Any, Protocol

import httpx
import pytest

from backend.app import Service
from backend.domain.links.links import Link
from backend.domain.reports.json_form import REPORT_PATH
from backend.domain.reports.report import Report
from backend.storage.accounts.users.passwords import with_password_hash
from backend.storage.driver.mongo import Database
from backend.storage.reports.reports import create_report
from tests.dashboard.campaigns import bought, clicked
from tests.dashboard.people import browser

QUERY = {
    "measures": ["clicks", "conversions", "revenue"],
    "group_by": ["day"],
    "period": "last_7_days",
    "compare": "previous",
    "filters": {"campaign": ["spring"]},
}


class ReportFactory(Protocol):
    """Makes a report of the link's organization."""

    def __call__(self, **fields: Any) -> Awaitable[Report]:
        """The report with these fields; by default one of QUERY."""


@pytest.fixture
async def reader(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """The browser of somebody without an account."""
    async with browser(service) as client:
        yield client


@pytest.fixture
def make_report(database: Database, link: Link, now: datetime) -> ReportFactory:
    """Makes reports."""

    async def make(**fields: Any) -> Report:
        values = await with_password_hash({"name": "For the agency", "query": QUERY} | fields, link.org_id)
        return await create_report(database, link.org_id, values, now)

    return make


@pytest.fixture
async def counted(database: Database, link: Link, now: datetime) -> None:
    """Clicks on the link yesterday and a week before that, and a sale."""
    await clicked(database, link, now - timedelta(days=1), 3)
    await clicked(database, link, now - timedelta(days=8), 2)
    await bought(database, link, now - timedelta(days=1), "4321.50")


def path_of(report: Report) -> str:
    """The path of the report's page."""
    return f"{REPORT_PATH}/{report.token}"
