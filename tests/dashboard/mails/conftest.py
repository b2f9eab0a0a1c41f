"""Recipients of a report, and the mails that are made for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.fields.time_zones import TimeZone
from backend.domain.links.links import Link
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import Frequency, Recipient
from backend.domain.reports.report import Report
from backend.mail.recipients import ask_to_confirm
from backend.mail.report_mails import ReportMailResources
from backend.storage.driver.mongo import Database, Document
from backend.storage.mail import mails
from backend.storage.reports.recipients import confirm_recipient
from backend.storage.reports.reports import create_report
from tests.conftest import MovableClock
from tests.dashboard.campaigns import bought, clicked
from tests.dashboard.people import browser

BASE_URL = "https://links.shop.example"
QUERY = {
    "measures": ["clicks", "conversions", "revenue", "conversion_rate"],
    "group_by": ["country"],
    "period": "last_7_days",
}


@pytest.fixture
async def reader(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """The browser of somebody without an account."""
    async with browser(service) as client:
        yield client


@pytest.fixture
def mailing(service: Service, clock: MovableClock) -> ReportMailResources:
    """What the service makes mails with, at a public address and with a mail server."""
    resources = service.resources
    settings = replace(
        resources.settings, base_url=BASE_URL, smtp_host="localhost", smtp_sender="a@shop.example"
    )
    return ReportMailResources(resources.database, resources.analytics, settings, clock)


@pytest.fixture
async def report(database: Database, link: Link, now: datetime) -> Report:
    """A report without revenue, whose name looks like a link. Nothing is counted for it yet."""
    fields = {"name": "Spring on www.shop.com", "query": QUERY, "shows_revenue": False}
    return await create_report(database, link.org_id, fields, now)


@pytest.fixture
async def counted(database: Database, link: Link, now: datetime) -> None:
    """Clicks and sales of last week (9 to 15 March 2026), of the week before, and of today."""
    await clicked(database, link, now - timedelta(days=5), 1234, country="DE")
    await clicked(database, link, now - timedelta(days=5), 3, country="NZ")
    await clicked(database, link, now - timedelta(days=12), 1000, country="DE")
    await clicked(database, link, now, 77, country="FR")
    await bought(database, link, now - timedelta(days=4), "4321.50")


async def asked(database: Database, report: Report, now: datetime, **fields: Any) -> Recipient:
    """A recipient who was asked, in German and for each week."""
    usual: dict[str, Any] = {
        "report_id": report.id,
        "address": f"ada@{report.org_id}.example",
        "frequency": Frequency.WEEKLY,
        "language": Language.DE,
        "timezone": TimeZone().parse("timezone", "Europe/Berlin"),
    }
    return await ask_to_confirm(database, BASE_URL, report.org_id, usual | fields, now)


async def confirmed(database: Database, report: Report, now: datetime, **fields: Any) -> Recipient:
    """A recipient who has confirmed."""
    recipient = await asked(database, report, now, **fields)
    assert recipient.code
    done = await confirm_recipient(database, recipient.token, recipient.code, now)
    assert done
    return done


async def mails_to(database: Database, recipient: Recipient, kind: str) -> list[Document]:
    """The mails of a kind that were queued for the recipient."""
    keys = {"$regex": f"^{recipient.org_id}/{kind}/{recipient.id}/"}
    return await database[mails.NAME].find({"_id": keys}).sort("created_at", 1).to_list(None)
