"""The page of a shared report: what it shows, and until when."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime, timedelta

import httpx
import pytest

from backend.app import Service
from backend.dashboard.shared.service import SharedReportsService
from backend.domain.links.links import Link
from backend.domain.reports.views import ViewKind
from backend.domain.sales.credit_rules import CreditRules
from backend.storage.accounts.organizations import set_subscription
from backend.storage.driver.mongo import Database
from backend.storage.reports.reports import change_report, delete_report, get_report
from backend.web.current import given_to
from tests.conftest import MovableClock
from tests.dashboard.campaigns import bought, clicked, figures, make_link, rows, table
from tests.dashboard.people import heading
from tests.dashboard.shared.conftest import QUERY, ReportFactory, path_of
from tests.facts.organizations import TestOrganization

# Ids, tokens of reports, digests of files and domains of test organizations.
_DRAWN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|/(shared|assets)/[\w-]+|go\.o\w+\.localhost")


def cells(answer: httpx.Response) -> list[list[str]]:
    """The rows of a CSV file."""
    return list(csv.reader(io.StringIO(answer.text, newline="")))


def said(answer: httpx.Response, *words: str) -> list[str]:
    """Which of the words the answer has, apart from random names and the rule of credit."""
    text = _DRAWN.sub("", answer.text).replace(CreditRules().in_words, "").lower()
    return [word for word in words if word in text]


@pytest.mark.usefixtures("counted")
async def test_a_report_shows_its_view(reader: httpx.AsyncClient, make_report: ReportFactory) -> None:
    """Its name, period, time zone, filters, totals, course and rows; the file has the same rows."""
    report = await make_report(shows_revenue=True)
    page = await reader.get(path_of(report))
    assert (page.status_code, heading(page)) == (200, "For the agency")
    assert "12 Mar to 18 Mar 2026 <span" in page.text
    assert "(UTC)" in page.text
    assert "Campaign: <strong>spring</strong>" in page.text
    before = "5 Mar to 11 Mar 2026"
    assert figures(page.text) == {
        "Clicks": ("3", f"+1 against {before}: 2"),
        "Conversions": ("1", f"+1 against {before}: 0"),
        "Revenue, EUR": ("4,321.50", f"+4,321.50 against {before}: 0.00 EUR"),
    }
    assert 'data-chart="line"' in page.text
    table = rows(page.text.partition("table-card")[2])
    assert [row[0] for row in table] == [*(f"{day} Mar" for day in range(12, 18)), "18 Mar (partly)"]
    assert table[5][1:] == ["3", "1", "4,321.50"]
    heads, *lines = cells(await reader.get(f"{path_of(report)}/report.csv"))
    assert heads == [
        "day", "partial", "clicks", "conversions", "conversions_EUR", "revenue_EUR",
        "previous_clicks", "previous_conversions", "previous_conversions_EUR", "previous_revenue_EUR",
    ]  # fmt: skip
    assert lines[5] == ["2026-03-17", "", "3", "1", "1", "4321.50", "2", "0", "0", "0"]


@pytest.mark.usefixtures("counted")
async def test_an_overview_shows_figures_a_chart_and_tables(
    reader: httpx.AsyncClient,
    make_report: ReportFactory,
    database: Database,
    organization: TestOrganization,
    now: datetime,
) -> None:
    """Its tables have most revenue first where it is shown; each has its rows as a file, too."""
    other = await make_link(database, organization, "quiet", now, utm_campaign="spring")
    await clicked(database, other, now - timedelta(days=1), 5)
    query = {"period": "last_7_days", "compare": "previous", "group_by": ["link", "country"]}
    report = await make_report(kind=ViewKind.OVERVIEW, query=query, shows_revenue=True, password="kites-42")
    page = (await reader.post(path_of(report), data={"password": "kites-42"})).text
    assert [*figures(page)] == [
        "Clicks", "Visitors", "Leads", "Conversions", "Conversion rate", "Revenue, EUR",
    ]  # fmt: skip
    assert 'data-chart="line"' in page
    assert table(page, "Link") == [["Spring", "3", "1", "4,321.50"], ["quiet", "5", "0", "0.00"]]
    heads, *lines = cells(await reader.get(f"{path_of(report)}/link.csv"))
    assert (heads[0], [line[1] for line in lines]) == ("link", ["Spring", "quiet"])
    days = cells(await reader.get(f"{path_of(report)}/report.csv"))
    assert (days[0][0], len(days)) == ("day", 8)
    hidden = await make_report(kind=ViewKind.OVERVIEW, query=query)
    for path in ("", "/link.csv", "/report.csv"):
        answer = await reader.get(path_of(hidden) + path)
        assert said(answer, "revenue", "eur", "4,321", "4321") == [], path
    # Without revenue, the order of rows does not tell who brought most of it.
    assert table((await reader.get(path_of(hidden))).text, "Link")[0][0] == "quiet"


@pytest.mark.usefixtures("counted")
async def test_a_funnel_shows_its_steps(reader: httpx.AsyncClient, make_report: ReportFactory) -> None:
    """How many did each, and its groups, also as a file."""
    steps = [{"kind": "conversion"}, {"kind": "event"}]
    report = await make_report(kind=ViewKind.FUNNEL, query={"steps": steps, "group_by": ["link"]})
    page = (await reader.get(path_of(report))).text
    assert "<strong>1</strong> device" in page
    assert "within 30 days." in page
    assert rows(page)[0][1:] == ["1", "0 0 %", "0 %", "1. Conversion"]
    assert [line[3:7] for line in cells(await reader.get(f"{path_of(report)}/report.csv"))] == [
        ["step", "what", "count", "of_first"],
        ["1", "conversion", "1", "1.0"],
        ["2", "any event", "0", "0.0"],
    ]


async def test_cohorts_show_customers_over_time(
    reader: httpx.AsyncClient, make_report: ReportFactory, database: Database, link: Link, now: datetime
) -> None:
    """A table for each figure, amounts in each currency, the time to a sale, and who is new; each as a file.
    Without revenue there is no amount, nor a table of one."""
    await bought(database, link, now - timedelta(days=9), "20", customer="ada")
    await bought(database, link, now - timedelta(days=1), "5", customer="ada")
    await bought(database, link, now - timedelta(days=1), "7", "USD", customer="bob")
    query = {"measures": ["revenue", "customers"], "period": "last_28_days", "added_up": True, "weeks": 2}
    report = await make_report(kind=ViewKind.COHORTS, query=query, shows_revenue=True)
    page = (await reader.get(path_of(report))).text
    title = "{}, by the week of the first touch"
    assert table(page, title.format("Revenue in EUR") + ", added up") == [
        ["9 Mar 2026", "1", "20.00", "25.00"],
        ["16 Mar 2026 (partly)", "1", "–", "–"],
    ]
    assert table(page, title.format("Revenue in USD") + ", added up")[1][2] == "7.00"
    assert table(page, title.format("Customers who bought"))[0][2:] == ["1", "1"]
    assert table(page, "New and returning customers")[0][1:] == ["2", "3", "25.00 EUR 7.00 USD"]
    files = {
        name: cells(await reader.get(f"{path_of(report)}/{name}.csv"))
        for name in ("report", "time-to-sale", "new-and-returning")
    }
    heads = "week,partial,customers,weeks_after,so_far,customers_who_bought,revenue_EUR,revenue_USD"
    assert files["report"][0] == heads.split(",")
    assert files["report"][-2] == ["2026-03-16", "true", "1", "0", "", "1", "0", "7.00"]
    assert files["time-to-sale"][1] == ["0", "600", "3"]
    assert files["new-and-returning"][1] == ["new", "2", "3", "25.00", "7.00"]
    hidden = await make_report(kind=ViewKind.COHORTS, query=query)
    for path in ("", *(f"/{name}.csv" for name in files)):
        answer = await reader.get(path_of(hidden) + path)
        assert said(answer, "revenue", "eur", "usd", "25.00") == [], path
    page = (await reader.get(path_of(hidden))).text
    assert table(page, title.format("Customers who bought"))[0][2:] == ["1", "1"]


async def test_single_rows_show_nobody(
    reader: httpx.AsyncClient, make_report: ReportFactory, database: Database, link: Link, now: datetime
) -> None:
    """Of a click its hour, link, device, country and referrer; of a sale who gets it, and with revenue its
    amount. No order, customer, browser or minute is on the page or in the file."""
    await clicked(database, link, now - timedelta(days=1), 2, country="NZ")
    await bought(
        database,
        link,
        now - timedelta(days=1),
        "20",
        refunded="5",
        order="order-1042",
        customer="ada@a.example",
    )
    clicks = await make_report(kind=ViewKind.CLICKS, query={"limit": 1})
    page = (await reader.get(path_of(clicks))).text
    assert rows(page) == [["17 Mar 2026, 12:00", "Spring", "Desktop", "NZ", "None", "To the website"]]
    assert "1 more row is not in this report." in page
    file = cells(await reader.get(f"{path_of(clicks)}/report.csv"))
    assert file[1:] == [["2026-03-17T12:00+00:00", "Spring", "desktop", "NZ", "", "web", "", ""]]
    sales = await make_report(kind=ViewKind.SALES, query={}, shows_revenue=True)
    page = (await reader.get(path_of(sales))).text
    assert rows(page) == [["17 Mar 2026, 12:00", "20.00 EUR, 5.00 paid back", "Spring", "–", "–"]]
    file = cells(await reader.get(f"{path_of(sales)}/report.csv"))
    assert file[1][2:6] + file[1][8:] == ["1", "true", "Spring", "spring", "20.00", "5.00", "EUR"]
    hidden = await make_report(kind=ViewKind.SALES, query={})
    for report, path in ((sales, ""), (sales, "/report.csv"), (hidden, ""), (hidden, "/report.csv")):
        text = (await reader.get(path_of(report) + path)).text
        assert not [
            word for word in ("order-1042", "ada@", "12:10", link.id) if word in text.partition("As of")[0]
        ]
        assert ("20.00" in text) == report.shows_revenue
    leads = await make_report(kind=ViewKind.SALES, query={"of": "leads"}, shows_revenue=True)
    page = (await reader.get(path_of(leads))).text
    assert "Single leads, the newest first" in page
    assert "Nothing in this time" in page


@pytest.mark.usefixtures("counted")
async def test_without_revenue_nothing_tells_of_money(
    reader: httpx.AsyncClient, make_report: ReportFactory, database: Database, link: Link, now: datetime
) -> None:
    """No amount, no currency and no order by amounts is on the page or in the file."""
    await bought(database, link, now - timedelta(days=1), "99", "JPY")
    money = ["revenue", "refunds", "net_revenue", "revenue_per_click"]
    report = await make_report(
        query=QUERY | {"measures": ["conversions", *money, "conversion_rate"], "change": True}
    )
    for path in (path_of(report), f"{path_of(report)}/report.csv"):
        answer = await reader.get(path)
        assert answer.status_code == 200
        # The rule of credit names what is credited, whether it is shown or not.
        text = answer.text.replace(CreditRules().in_words, "").lower()
        assert not [word for word in ("revenue", "refund", "eur", "jpy", "4321", "4,321") if word in text]
    assert figures((await reader.get(path_of(report))).text).keys() == {"Conversions", "Conversion rate"}


async def test_rows_beyond_the_limit_are_nowhere(
    reader: httpx.AsyncClient, make_report: ReportFactory, database: Database, link: Link, counted: None
) -> None:
    """A report of the first row has no second one, neither on its page nor in its file."""
    report = await make_report(query=QUERY | {"limit": 1, "compare": None})
    page = await reader.get(path_of(report))
    assert "6 more rows are not in this report." in page.text
    assert "17 Mar</th>" not in page.text.partition("table-card")[2]
    assert len(cells(await reader.get(f"{path_of(report)}/report.csv"))) == 2


async def test_a_report_says_what_it_leaves_out(
    reader: httpx.AsyncClient, make_report: ReportFactory, link: Link
) -> None:
    """All kinds of filters are told in words, a link by its name."""
    filters = {
        "link": [link.id],
        "country": {"not": ["US", None]},
        "source": {"prefix": "news"},
        "referrer": ["a.example", "b.example", "c.example"],
    }
    page = (await reader.get(path_of(await make_report(query={"filters": filters})))).text
    for words in (
        "Link: <strong>Spring",
        "Country: <strong>not US or Unknown",
        "Source: <strong>begins with news",
        "Referrer: <strong>a.example, b.example or c.example",
    ):
        assert words in page


async def test_nobody_else_keeps_or_finds_it(reader: httpx.AsyncClient, make_report: ReportFactory) -> None:
    """Search engines, caches, other sites and frames get nothing of it; no cookie is set."""
    report = await make_report()
    for path in (path_of(report), f"{path_of(report)}/report.csv"):
        headers = (await reader.get(path)).headers
        assert headers["x-robots-tag"] == "noindex, nofollow, noarchive"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "private, no-store"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "set-cookie" not in headers
    assert '<meta name="robots" content="noindex">' in (await reader.get(path_of(report))).text


async def test_frames_of_allowed_sites(reader: httpx.AsyncClient, make_report: ReportFactory) -> None:
    """The named sites may show it in a frame, and no others."""
    report = await make_report(embed_origins=("https://shop.example", "https://*.shop.example"))
    headers = (await reader.get(path_of(report))).headers
    allowed = "frame-ancestors https://shop.example https://*.shop.example;"
    assert allowed in headers["content-security-policy"]
    assert "x-frame-options" not in headers


async def test_a_report_ends(
    reader: httpx.AsyncClient,
    make_report: ReportFactory,
    database: Database,
    now: datetime,
    clock: MovableClock,
) -> None:
    """After its end it says so, and shows nothing of itself; once deleted it is gone at once."""
    report = await make_report(expires_at=now + timedelta(hours=1))
    assert (await reader.get(path_of(report))).status_code == 200
    clock.offset += timedelta(hours=2)
    for path in (path_of(report), f"{path_of(report)}/report.csv"):
        over = await reader.get(path)
        assert (over.status_code, heading(over)) == (410, "This report is closed")
        assert report.name not in over.text
    open_again = {"expires_at": None}
    await change_report(database, report.org_id, report.id, open_again, clock())
    assert (await reader.get(path_of(report))).status_code == 200
    await delete_report(database, report.org_id, report.id)
    for path in (path_of(report), f"{path_of(report)}/report.csv"):
        assert (await reader.get(path)).status_code == 404


async def test_nothing_is_left_of_a_deleted_organization(
    reader: httpx.AsyncClient, make_report: ReportFactory, database: Database
) -> None:
    """From the moment on at which it is deleted, before its documents are."""
    report = await make_report()
    assert (await reader.get(path_of(report))).status_code == 200
    await database["organizations"].delete_one({"_id": report.org_id})
    assert (await reader.get(path_of(report))).status_code == 404


async def test_a_report_without_a_subscription(
    reader: httpx.AsyncClient, make_report: ReportFactory, database: Database, link: Link, now: datetime
) -> None:
    """Installs are left out once the subscription has ended; a report of nothing else can't be shown."""
    await set_subscription(database, link.org_id, now + timedelta(days=1))
    report = await make_report(query={"measures": ["installs", "clicks"]})
    assert "Installs" in figures((await reader.get(path_of(report))).text)
    await set_subscription(database, link.org_id, now - timedelta(days=1))
    assert figures((await reader.get(path_of(report))).text).keys() == {"Clicks"}
    only = await reader.get(path_of(await make_report(query={"measures": ["installs"]})))
    assert (only.status_code, heading(only)) == (422, "This report can&#39;t be shown")


async def test_when_it_was_opened_last(
    reader: httpx.AsyncClient, make_report: ReportFactory, database: Database, clock: MovableClock
) -> None:
    """Its owner sees when somebody opened it, to the minute; what is not shown does not count."""
    report = await make_report(password="kites-42")

    async def opened_at() -> datetime | None:
        return (await get_report(database, report.org_id, report.id)).opened_at

    await reader.get(path_of(report))
    assert await opened_at() is None
    await reader.post(path_of(report), data={"password": "kites-42"})
    first = await opened_at()
    assert first is not None
    assert abs(first - clock()) < timedelta(minutes=1)
    clock.offset += timedelta(minutes=5)
    await reader.post(path_of(report), data={"password": "kites-42"})
    again = await opened_at()
    assert again is not None
    assert timedelta(minutes=4) < again - first < timedelta(minutes=6)


@pytest.mark.usefixtures("counted")
async def test_a_busy_report_is_asked_seldom(
    service: Service, reader: httpx.AsyncClient, make_report: ReportFactory, database: Database, now: datetime
) -> None:
    """Within half a minute the same answer is shown; a changed report is asked anew at once."""
    report = await make_report()
    before = figures((await reader.get(path_of(report))).text)
    answers = given_to(service.api, SharedReportsService).answers
    known = len(answers._answers._entries)
    assert figures((await reader.get(path_of(report))).text) == before
    assert len(answers._answers._entries) == known
    assert answers._answers._size > 500 * known, "bytes are counted, not answers"
    changes = {"query": QUERY | {"measures": ["visitors"]}}
    await change_report(database, report.org_id, report.id, changes, now)
    assert figures((await reader.get(path_of(report))).text).keys() == {"Visitors"}


async def test_an_address_may_not_ask_without_end(
    reader: httpx.AsyncClient, make_report: ReportFactory, monkeypatch: pytest.MonkeyPatch, service: Service
) -> None:
    """Beyond the limit it is told when to come again; wrong tokens count as right ones do."""
    limit = service.resources.rate_limits.shared_reports
    monkeypatch.setattr(limit, "_limit", type(limit._limit)("shared-test", 3))
    for _ in range(3):
        assert (await reader.get("/shared/nothing")).status_code == 404
    refused = await reader.get(path_of(await make_report()))
    assert (refused.status_code, heading(refused)) == (429, "That was too often")
    assert 0 < int(refused.headers["retry-after"]) <= 60
