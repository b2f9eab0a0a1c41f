"""Mails with a report's figures: which time, which numbers, whose language."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.domain.analytics.input import parse_query
from backend.domain.analytics.query import Field
from backend.domain.annotations.annotation import ANNOTATIONS, NotedTime
from backend.domain.links.destinations.destination import OUTCOME_NAMES, Outcome
from backend.domain.links.links import Link
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import Frequency
from backend.domain.reports.report import Report
from backend.domain.reports.shared_rows import SharedClick, SharedRows
from backend.domain.reports.singles import ClicksOf
from backend.domain.reports.views import ViewKind
from backend.mail.figures.rows import name_of_value
from backend.mail.figures.singles import mailed_singles
from backend.mail.report_mails import ReportMailResources, make_due_mail
from backend.storage.driver.mongo import Database, Document
from backend.storage.mail import mails
from backend.storage.reports.reports import change_report, create_report
from backend.storage.resources.things import Things
from tests.api.link_calls import API
from tests.conftest import MovableClock
from tests.dashboard.campaigns import bought, words
from tests.dashboard.mails.conftest import BASE_URL, QUERY, confirmed, mails_to
from tests.facts.organizations import TestOrganization


@pytest.mark.usefixtures("counted")
async def test_the_last_whole_week(database: Database, report: Report, mailing: ReportMailResources) -> None:
    """Totals and rows of Monday to Sunday in German, compared with the week before, without revenue; made
    twice, it is one mail."""
    now = mailing.clock()
    recipient = await confirmed(database, report, now)
    await make_due_mail(mailing, recipient)
    await make_due_mail(mailing, recipient)
    [mail] = await mails_to(database, recipient, "figures")
    assert mail["_id"].endswith("/2026-03-09")
    assert mail["subject"] == "Spring on www.shop.com: 9.–15. März 2026"
    unsubscribe = f"{BASE_URL}/mail/unsubscribe/{recipient.token}"
    assert mail["unsubscribe_url"] == unsubscribe
    text = mail["text"]
    assert "Verglichen mit 2.–8. März 2026." in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    total, germany = lines.index("INSGESAMT"), lines.index("Deutschland")
    assert lines[total + 1 : total + 4] == [
        "Klicks 1.237 (+24 %)",
        "Conversions 1 (+1)",
        "Konversionsrate 0,08 % (+0,08 Punkte)",
    ]
    assert lines[germany + 1] == "Klicks 1.234 (+23 %)"
    assert "Neuseeland" in lines
    assert "Frankreich" not in text
    assert f"Bericht öffnen: {BASE_URL}/shared/{report.token}" in lines
    assert f"Abbestellen: {unsubscribe}" in lines
    html = mail["html"]
    assert '<html lang="de">' in html
    assert "Deutschland Klicks 1.234 +23 %" in words(html)
    for without in ("4.321", "EUR", "€", "<img", "<script", "<link", "url("):
        assert without not in text + html, without


@pytest.mark.usefixtures("counted")
async def test_the_last_whole_month(
    database: Database, report: Report, mailing: ReportMailResources, clock: MovableClock
) -> None:
    """In English, with revenue where the report shows it."""
    await change_report(database, report.org_id, report.id, {"shows_revenue": True}, clock())
    clock.offset += timedelta(days=20)
    recipient = await confirmed(database, report, clock(), frequency=Frequency.MONTHLY, language=Language.EN)
    await make_due_mail(mailing, recipient)
    [mail] = await mails_to(database, recipient, "figures")
    assert mail["subject"] == "Spring on www.shop.com: March 2026"
    assert "Compared with February 2026." in mail["text"]
    assert "Revenue          €4,321.50" in mail["text"]
    assert "Germany Clicks 2,234" in words(mail["html"])


@pytest.mark.usefixtures("counted")
async def test_a_mail_says_what_its_figures_are_of(
    database: Database, report: Report, link: Link, mailing: ReportMailResources, clock: MovableClock
) -> None:
    """The filters of the report stand above the figures, with the names of countries and links."""
    query = QUERY | {"filters": {"country": ["NZ", "FR"], "link": [link.id]}}
    await change_report(database, report.org_id, report.id, {"query": query}, clock())
    recipient = await confirmed(database, report, clock(), language=Language.EN)
    await make_due_mail(mailing, recipient)
    [mail] = await mails_to(database, recipient, "figures")
    assert f"Country: France or New Zealand\nLink: {link.link_name}\n" in mail["text"]
    html = words(mail["html"])
    assert f"Country: France or New Zealand Link: {link.link_name}" in html
    assert "New Zealand Clicks 3" in html
    assert "Germany" not in html


@pytest.mark.usefixtures("counted")
async def test_a_mail_has_the_notes_that_its_page_has(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    database: Database,
    link: Link,
    mailing: ReportMailResources,
    clock: MovableClock,
) -> None:
    """Those of the mail's days and of the report's link, with its changes, in the reader's language; none
    where readers may see none, and none where the page draws nothing over time."""
    clock.offset -= timedelta(days=3)
    path, changes = f"{API}/links/{link.id}", {"destination_url": "https://b.example/"}
    answer = await client.patch(path, headers=organization.headers, json=changes)
    assert answer.status_code == 200, answer.text
    clock.offset += timedelta(days=3)
    for day, text, of in (
        (15, "Sale <b>50 %</b>", None),
        (9, "Flyers", link.id),
        (16, "Too late", None),
        (8, "Too early", None),
    ):
        values = {"at": NotedTime.of_day(date(2026, 3, day)), "text": text, "link_id": of}
        await Things(ANNOTATIONS).add(database, link.org_id, values, clock())
    query: dict[str, Any] = {"measures": ["clicks"], "group_by": ["day"], "period": "last_7_days"}
    values = {"name": "Days", "query": query | {"filters": {"link": [link.id]}}}
    report = await create_report(database, link.org_id, values, clock())
    recipient = await confirmed(database, report, clock())

    async def mailed(**changes: Any) -> Document:
        await change_report(database, report.org_id, report.id, changes, clock())
        clock.offset += timedelta(seconds=1)
        await database[mails.NAME].delete_many({"_id": {"$regex": f"^{recipient.org_id}/figures/"}})
        await make_due_mail(mailing, recipient)
        [mail] = await mails_to(database, recipient, "figures")
        return mail

    shown = await mailed(shows_notes=True)
    notes = [
        "9. März 2026: Flyers (Spring)",
        "15. März 2026: Sale <b>50 %</b>",
        "15. März 2026: Link geändert: Ziel",
    ]
    assert "\nNOTIZEN\n" + "\n".join(notes) + "\n\n" in shown["text"]
    assert "15. März 2026: Sale &lt;b&gt;50 %&lt;/b&gt;</p>" in shown["html"]
    assert "Too" not in shown["text"]
    assert "Flyers" not in (await mailed(shows_notes=False))["text"]
    by_country = await mailed(shows_notes=True, query=query | {"group_by": ["country"]})
    assert "Flyers" not in by_country["text"] + by_country["html"]


@pytest.mark.usefixtures("counted")
async def test_a_funnel_by_mail(
    database: Database, report: Report, link: Link, mailing: ReportMailResources, clock: MovableClock
) -> None:
    """How many did each step, with its filters, and each group's way; only the first step is compared."""
    await bought(database, link, clock() - timedelta(days=12), "5")
    filters = {"link": [link.id], "campaign": {"prefix": "spr"}}
    steps = [
        {"kind": "conversion", "filters": filters},
        {"kind": "event", "name": "Signed up", "filters": {"country": ["DE"]}},
    ]
    query = {"steps": steps, "group_by": ["campaign"], "within_days": 3}
    values = {"name": "Way", "kind": ViewKind.FUNNEL, "query": query}
    funnel = await create_report(database, link.org_id, values, clock())
    recipient = await confirmed(database, funnel, clock())
    await make_due_mail(mailing, recipient)
    [mail] = await mails_to(database, recipient, "figures")
    assert mail["subject"] == "Way: 9.–15. März 2026"
    lines = [" ".join(line.split()) for line in mail["text"].splitlines()]
    total = lines.index("INSGESAMT")
    assert lines[total + 1 : total + 4] == [
        "Angefangen 1 (unverändert)",
        "Ganz durchgegangen 0",
        "Anteil derer, die anfingen 0 %",
    ]
    first = "1. Conversion (Link: Spring; Kampagne: beginnt mit spr)"
    assert f"Schritt {first} Geräte 1" in words(mail["html"])
    step = lines.index("SCHRITT")
    second = "2. Signed up (Land: Deutschland)"
    assert lines[step + 1 : step + 6] == [first, "Geräte 1", "", second, "Geräte 0"]
    assert lines[lines.index("KAMPAGNE") + 1] == "spring"
    assert "kann bis zum 19. März 2026 weitergehen" in mail["text"]


@pytest.mark.usefixtures("counted")
async def test_cohorts_by_mail(
    database: Database, report: Report, link: Link, mailing: ReportMailResources, clock: MovableClock
) -> None:
    """Who bought last week first and again, against the week before; amounts with revenue only."""
    await bought(database, link, clock() - timedelta(days=12), "5", customer="ada")
    await bought(database, link, clock() - timedelta(days=5), "7", customer="ada")
    await bought(database, link, clock() - timedelta(days=5), "9", "USD", customer="bob")
    values = {"name": "Customers", "kind": ViewKind.COHORTS, "query": {}, "shows_revenue": True}
    cohorts = await create_report(database, link.org_id, values, clock())
    recipient = await confirmed(database, cohorts, clock(), language=Language.EN)
    await make_due_mail(mailing, recipient)
    [mail] = await mails_to(database, recipient, "figures")
    text = " ".join(mail["text"].split())
    for part in (
        "TOTAL Customers 2 (+1) Conversions 3 (+2)",
        "New: first sale of all in this time Customers 1 (no change) Conversions 1 (no change) Revenue $9.00",
        "Returning: had bought before Customers 1 (+1) Conversions 1 (+1) Revenue €7.00 (+€7.00)",
        "Sales without a customer id Conversions 1 (+1) Revenue €4,321.50 (+€4,321.50)",
    ):
        assert part in text
    await change_report(database, cohorts.org_id, cohorts.id, {"shows_revenue": False}, clock())
    clock.offset += timedelta(days=7)
    await make_due_mail(mailing, recipient)
    later = (await mails_to(database, recipient, "figures"))[-1]
    assert not [word for word in ("Revenue", "€", "$") if word in later["text"] + later["html"]]


@pytest.mark.usefixtures("counted")
async def test_single_sales_and_links_by_mail(
    database: Database, report: Report, link: Link, mailing: ReportMailResources, clock: MovableClock
) -> None:
    """How many there were, the newest rows of them, and the first links with their figures, without ids."""
    await bought(database, link, clock() - timedelta(days=5), "7", customer="ada@shop.example")
    values = {"name": "Sales", "kind": ViewKind.SALES, "query": {"limit": 1}, "shows_revenue": True}
    sales = await create_report(database, link.org_id, values, clock())
    recipient = await confirmed(database, sales, clock(), language=Language.EN)
    await make_due_mail(mailing, recipient)
    [mail] = await mails_to(database, recipient, "figures")
    text = " ".join(mail["text"].split())
    assert "TOTAL Conversions 2" in text
    assert "March 14, 2026, 13:00: Spring Revenue €4,321.50 Campaign spring 1 more row" in text
    assert "ada@shop.example" not in mail["text"] + mail["html"]
    links = await create_report(
        database, link.org_id, {"name": "Links", "kind": ViewKind.LINKS, "query": {}}, clock()
    )
    recipient = await confirmed(database, links, clock(), language=Language.EN)
    await make_due_mail(mailing, recipient)
    [mail] = await mails_to(database, recipient, "figures")
    text = " ".join(mail["text"].split())
    assert "TOTAL Links 1 LINK Spring Clicks 1,237 (+24%) Conversions 2 (+2)" in text
    assert not [word for word in ("€", "Revenue", link.destination_url) if word in mail["text"]]


def test_a_click_by_mail(now: datetime) -> None:
    """Its country, platform and referring site have the names that people know them by."""
    click = SharedClick(now, "Spring", "ios", "NZ", "lm.facebook.com", "app", None, None)
    query = parse_query({"measures": ["clicks"], "period": "last_7_days"}, now)
    [section] = mailed_singles(SharedRows(ClicksOf.CLICKS, [click], (), 1), query, Language.DE).sections
    figures = [(figure.label, *figure.lines) for figure in section.rows[0].figures]
    assert figures == [("Land", "Neuseeland"), ("Plattform", "iOS"), ("Herkunft", "Facebook")]


def test_outcomes_by_mail() -> None:
    """Each has the name that the page has for it, or its own in the reader's language."""
    names = {
        language: [name_of_value({}, Field.OUTCOME, outcome, None, language) for outcome in Outcome]
        for language in Language
    }
    assert names[Language.EN] == list(OUTCOME_NAMES.values())
    assert not {*names[Language.DE]} & {*Outcome, *names[Language.EN]}
