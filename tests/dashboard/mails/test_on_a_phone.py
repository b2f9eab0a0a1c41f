"""Mails with figures, as a phone shows them."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from playwright.sync_api import Page

from backend.domain.ids import OrgId, ReportId
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import Frequency, Recipient, RecipientId
from backend.domain.reports.report import Report
from backend.mail.composing import figures_mail
from backend.mail.figures.mailed import MailedReport, MailFigure, MailRow, MailSection
from backend.mail.texts import sections_in

NOW = datetime(2026, 3, 18, tzinfo=UTC)
ORG, REPORT = OrgId("o"), ReportId("r")


def long_mail(language: Language) -> str:
    """The HTML of a mail with every measure, large amounts in two currencies, and a name without blanks."""
    labels = sections_in(language)["measures"].values()
    lines = ["12.345.678,90 €", "1.234.567,89 CHF"]
    figures = [MailFigure(label, lines, "+1.230.247,39 €") for label in labels]
    rows = [MailRow("a-name-that-no-phone-is-wide-enough-for-" * 3, figures)]
    shown = MailedReport(
        period="28. Dezember 2026 – 3. Januar 2027",
        compared="",
        zone="America/Argentina/ComodRivadavia",
        totals=figures,
        sections=[MailSection("event_property_with_a_long_name", rows)] * 2,
        notes=["x" * 100],
    )
    report = Report(
        id=REPORT, org_id=ORG, name="x" * 100, query={}, token="t", created_at=NOW, shows_revenue=True
    )
    reader = Recipient(
        id=RecipientId("a"),
        org_id=ORG,
        report_id=REPORT,
        address="ada@shop.example",
        frequency=Frequency.WEEKLY,
        language=language,
        timezone="UTC",
        created_at=NOW,
        token="t",
    )
    mail = figures_mail("https://a.example", "My shop", report, reader, figures=shown, first=date(2026, 3, 9))
    return mail.html


@pytest.mark.parametrize("language", Language)
def test_nothing_is_wider_than_the_screen(page: Page, language: Language) -> None:
    """Of a narrow phone, whatever the figures and names are, and without style sheets, which mail programs
    may leave out."""
    page.set_viewport_size({"width": 360, "height": 700})
    html = long_mail(language)
    assert "<style" not in html
    page.set_content(html)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
