"""Sharing views in the dashboard: from the pages that show them, in the list, and until they are revoked."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.roles import Role
from backend.domain.analytics.funnels.input import FunnelSteps
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.links.links import Link
from backend.domain.reports.report import Report
from backend.domain.reports.views import ViewKind
from backend.storage.accounts.organizations import set_event_properties
from backend.storage.driver.mongo import Database
from backend.storage.reports.reports import create_report, list_reports
from backend.storage.resources.things import Things
from tests.dashboard.campaigns import clicked, words
from tests.dashboard.people import Person, browser, heading, make_user, open_session
from tests.facts.organizations import TestOrganization


async def share(person: Person, page: str, **fields: str) -> httpx.Response:
    """Send the form that a page's button leads to."""
    return await person.submit(await form_for(person, page), "/reports", **fields)


async def form_for(person: Person, page: str) -> httpx.Response:
    """The form that a page's button leads to."""
    button = re.search(r'href="(/reports/new[^"]*)"', (await person.get(page)).text)
    assert button, page
    return await person.get(unescape(button[1]))


async def only_report(database: Database, organization: TestOrganization) -> Report:
    """The one report of the organization."""
    (report,) = await list_reports(database, organization.id)
    return report


@pytest.mark.parametrize("role", Role)
async def test_who_sees_where_reports_are(
    person: Person,
    database: Database,
    organization: TestOrganization,
    link: Link,
    service: Service,
    role: Role,
) -> None:
    """A report's address opens it for everybody, so only who may share figures sees it.

    So are the addresses of those who get mails.
    """
    await share(person, "/?period=7", name="For the agency")
    report = await only_report(database, organization)
    async with browser(service) as client:
        member = Person(client, await make_user(database, organization.id, role=role))
        await open_session(database, member)
        listed, mails = (await member.get("/reports")).text, await member.get("/mails")
    shares = Permission.REPORTS_WRITE in role.permissions
    assert "For the agency" in listed
    assert (report.token in listed) is shares
    assert mails.status_code == (200 if shares else 403)


async def test_a_view_is_shared_as_it_is(
    person: Person, database: Database, organization: TestOrganization, link: Link, service: Service
) -> None:
    """What the overview shows for a campaign is what its reader sees; the list has its address again."""
    shared = await share(person, "/?campaign=spring&period=7&zone=Asia/Tokyo", name="For the agency")
    assert (shared.status_code, shared.headers["location"]) == (303, "/reports?notice=report-made")
    report = await only_report(database, organization)
    assert report.query == {
        "timezone": "Asia/Tokyo",
        "filters": {"campaign": ["spring"]},
        "period": "last_7_days",
        "compare": "previous",
        "measures": ["clicks", "visitors", "leads", "conversions", "conversion_rate", "revenue"],
        "group_by": ["campaign", "link", "referring_site", "country", "platform"],
    }
    assert report.kind is ViewKind.OVERVIEW
    listed = (await person.get("/reports")).text
    url = re.search(r'data-copy="([^"]+)"', listed)
    assert url
    assert url[1].endswith(f"/shared/{report.token}")
    text = words(listed)
    for part in (
        "For the agency",
        "Overview: Clicks, Visitors, Leads, Conversions, Conversion rate by campaign",
        "Last 7 days",
    ):
        assert part in text
    assert "Campaign: spring; without revenue" in text
    assert "Never" in text
    async with browser(service) as reader:
        page = await reader.get(f"/shared/{report.token}")
    assert heading(page) == "For the agency"
    assert "(Asia/Tokyo)" in page.text
    assert " Never " not in words((await person.get("/reports")).text)


@pytest.mark.parametrize(
    ("shown", "query"),
    [
        (
            "/?period=today&compare=none&source=&currency=EUR",
            {
                "period": "today",
                "compare": None,
                "filters": {"source": [None]},
                "currency": "EUR",
            },
        ),
        (
            "/?from=2026-03-01&to=2026-03-10&campaign=Caf%C3%A9+%22x%22",
            {
                "from": "2026-03-01",
                "to": "2026-03-11",
                "compare": "previous",
                "filters": {"campaign": ['Café "x"']},
            },
        ),
        ("/?period=90", {"period": "last_90_days"}),
        (
            "/?from=2026-03-01&chart=conversions&campaigns=source&sort=-difference.clicks",
            {
                "from": "2026-03-01",
                "to": None,
                "measures": ["conversions", "clicks", "visitors", "leads", "conversion_rate", "revenue"],
                "group_by": ["source", "link", "referring_site", "country", "platform"],
                "order_by": "-difference.clicks",
            },
        ),
        (
            "/attribution?by=source&touch=linear&credit=customer&window=30&as_of=2026-03-10&period=month",
            {
                "period": "this_month",
                "group_by": ["source"],
                "model": "linear",
                "credit": "customer",
                "lookback_days": 30,
                "as_of": "2026-03-10",
            },
        ),
    ],
)
async def test_each_part_of_a_view_is_kept(
    person: Person, database: Database, link: Link, organization: TestOrganization, shown: str, query: Any
) -> None:
    """Periods that move go on to, others keep their days; filters, comparison and credit are the page's."""
    assert (await share(person, shown)).status_code == 303
    saved = (await only_report(database, organization)).query
    assert {name: saved.get(name) for name in query} == query


async def test_all_time_goes_on(
    person: Person, database: Database, link: Link, organization: TestOrganization, now: datetime
) -> None:
    """It begins when anything was known first, and has no end."""
    await clicked(database, link, now - timedelta(days=40))
    assert (await share(person, "/?period=all")).status_code == 303
    query = (await only_report(database, organization)).query
    assert (query["from"], "to" in query) == (f"{(now - timedelta(days=40)).date()}", False)


async def test_a_link_s_statistics(
    person: Person, database: Database, link: Link, organization: TestOrganization
) -> None:
    """The button on its page makes a report of its clicks and visitors, and no other link's."""
    page = f"/links/{link.id}"
    assert "Share statistics" in (await person.get(page)).text
    await share(person, page)
    report = await only_report(database, organization)
    assert report.name == "Spring"
    assert report.query["filters"] == {"link": [link.id]}
    assert report.query["measures"] == ["clicks", "visitors"]
    assert report.query["group_by"] == ["referring_site", "country", "platform"]
    assert not report.shows_revenue


async def test_a_funnel_is_shared_as_it_is(
    person: Person, database: Database, link: Link, organization: TestOrganization, now: datetime
) -> None:
    """Its page's button keeps steps, period and groups; a funnel that is deleted later changes no report."""
    steps = [{"kind": "click"}, {"kind": "event", "name": "Signed up"}]
    fields = {"name": "Sign-ups", "steps": FunnelSteps().parse("steps", steps), "within_days": 3}
    saved = await Things(SAVED_FUNNELS).add(database, organization.id, fields, now)
    await share(person, f"/funnels/{saved.id}?by=country&period=7")
    await Things(SAVED_FUNNELS).delete(database, organization.id, saved.id)
    report = await only_report(database, organization)
    assert (report.kind, report.name) == (ViewKind.FUNNEL, "Sign-ups")
    assert {
        "period": "last_7_days",
        "group_by": ["country"],
        "within_days": 3,
    }.items() <= report.query.items()
    listed = words((await person.get("/reports")).text)
    assert "Funnel: click \N{RIGHTWARDS ARROW} event Signed up, by Country" in listed
    changing = (await person.get(f"/reports/{report.id}")).text
    assert "Show revenue" not in changing
    assert "Mail this report" in changing


@pytest.mark.parametrize(
    ("shown", "kind", "query", "listed", "name"),
    [
        (
            "/events?campaign=spring&period=7&properties=event.plan",
            ViewKind.OVERVIEW,
            {
                "measures": ["events", "identities"],
                "filters": {"campaign": ["spring"]},
                "group_by": [
                    "campaign",
                    "link",
                    "referring_site",
                    "country",
                    "platform",
                    "event",
                    "event.plan",
                ],
            },
            "Overview: Events, Identities by campaign",
            "spring",
        ),
        (
            "/events?event=Signed+up",
            ViewKind.OVERVIEW,
            {"measures": ["events"], "filters": {"event": ["Signed up"]}},
            "Event: Signed up",
            "Signed up",
        ),
        (
            "/cohorts?show=conversions&sum=1&country=AT",
            ViewKind.COHORTS,
            {
                "period": "last_90_days",
                "filters": {"country": ["AT"]},
                "measures": ["conversions", "customers"],
                "added_up": True,
            },
            "Cohorts: Conversions, Customers who bought, added up",
            "AT",
        ),
        (
            "/clicks?of=not_counted&compare=none&country=AT",
            ViewKind.CLICKS,
            {"of": "not_counted", "filters": {"country": ["AT"]}, "currency": None, "compare": None},
            "Single requests that do not count",
            "AT",
        ),
        (
            "/sales?of=leads&touch=linear&window=30",
            ViewKind.SALES,
            {"of": "leads", "model": "linear", "lookback_days": 30},
            "Single leads",
            "Single leads",
        ),
        (
            "/links?q=flyer&campaign=spring&made_from=2026-01-02&sort=-revenue&state=enabled&period=7",
            ViewKind.LINKS,
            {
                "filters": {
                    "search": "flyer",
                    "campaign": "spring",
                    "state": "enabled",
                    "created_after": "2026-01-02T00:00:00+00:00",
                },
                "order_by": "-revenue",
                "period": "last_7_days",
                "measures": ["clicks", "conversions", "revenue"],
            },
            "Links: Clicks, Conversions",
            "Links",
        ),
        (
            "/live?type=conversion&type=identify",
            ViewKind.LIVE,
            {"measures": ["conversions"], "timezone": "UTC"},
            "Live: Conversions",
            "Live",
        ),
    ],
)
async def test_other_pages_are_shared_as_they_are(
    person: Person,
    database: Database,
    link: Link,
    organization: TestOrganization,
    shown: str,
    kind: ViewKind,
    query: Any,
    listed: str,
    name: str,
) -> None:
    """Events as an overview of them; cohorts and single rows as kinds of their own."""
    await set_event_properties(database, organization.id, ("plan",))
    shared = await share(person, shown)
    assert shared.status_code == 303, words(shared.text)
    report = await only_report(database, organization)
    assert (report.kind, report.name) == (kind, name)
    assert {name: report.query.get(name) for name in query} == query
    assert listed in words((await person.get("/reports")).text)
    changing = (await person.get(f"/reports/{report.id}")).text
    assert ("Show revenue" in changing) == report.kind.has_amounts
    assert ("Mail this report" in changing) == report.kind.is_mailed


async def test_a_table_can_be_shared_instead(
    person: Person, database: Database, link: Link, organization: TestOrganization
) -> None:
    """The form for the overview leads to the one for a table of the same view."""
    form = (await person.get("/reports/new?kind=overview&campaign=spring&period=7")).text
    other = re.search(r'href="([^"]*kind=table[^"]*)"', form)
    assert other
    await person.send(unescape(other[1]), "/reports", name="Days")
    report = await only_report(database, organization)
    assert (report.kind, report.query["group_by"]) == (ViewKind.TABLE, ["day"])
    assert report.query["filters"] == {"campaign": ["spring"]}


async def test_what_is_wrong_is_told(
    person: Person, database: Database, link: Link, organization: TestOrganization
) -> None:
    """Each field has its problem, and keeps what was typed."""
    wrong = {
        "name": "",
        "embed_origins": "no origin",
        "expires_at": "2020-01-01T00:00",
        "password": "abc",
        "measure-clicks": "",
    }
    form = await form_for(person, "/")
    answer = await person.submit(form, "/reports", **wrong)
    assert answer.status_code == 422
    text = words(answer.text)
    for problem in (
        "Name must not be empty",
        "Sites that may show it in a frame must have origins such as",
        "Password must have 4 to 1024 characters",
    ):
        assert problem in text
    assert ">no origin</textarea>" in answer.text
    past = await person.submit(form, "/reports", name="x", expires_at="2020-01-01T00:00")
    assert "Open until must not have passed" in words(past.text)
    ticks = ("clicks", "visitors", "leads", "conversions", "conversion_rate")
    money = await person.submit(form, "/reports", name="x", **{f"measure-{tick}": "" for tick in ticks})
    assert "Figures must have one that is no amount" in words(money.text)
    assert await list_reports(database, organization.id) == []


async def test_a_report_is_changed_and_revoked(
    person: Person, database: Database, link: Link, organization: TestOrganization, now: datetime
) -> None:
    """Its access changes while its view and address stay; once revoked it is gone."""
    query = {"period": "last_7_days"}
    made = await create_report(database, organization.id, {"name": "Old", "query": query}, now)
    path = f"/reports/{made.id}"
    fields = {
        "name": "New",
        "shows_revenue": "on",
        "password": "kites-42",
        "expires_at": "2027-01-01T12:00",
        "embed_origins": "https://shop.example\nhttps://*.shop.example",
    }
    changed = await person.send(path, path, **fields)
    assert changed.headers["location"] == "/reports?notice=report-changed"
    report = await only_report(database, organization)
    assert (report.name, report.shows_revenue, report.token) == ("New", True, made.token)
    assert report.password_hash
    assert report.embed_origins == ("https://shop.example", "https://*.shop.example")
    assert report.expires_at == datetime.fromisoformat("2027-01-01T12:00Z")
    listed = words((await person.get("/reports")).text)
    assert "Whoever knows the password until 1 Jan 2027, 12:00" in listed
    await person.send(path, path, password="", shows_revenue="")
    kept = await only_report(database, organization)
    assert (kept.password_hash, kept.shows_revenue) == (report.password_hash, False)
    await person.send(path, path, remove_password="true")
    assert (await only_report(database, organization)).password_hash is None
    revoked = await person.send(path, f"{path}/delete")
    assert revoked.headers["location"] == "/reports?notice=report-deleted"
    assert await list_reports(database, organization.id) == []
    assert (await person.get(path)).status_code == 404


async def test_a_report_that_can_t_be_shown_any_more(
    person: Person, database: Database, link: Link, organization: TestOrganization, now: datetime
) -> None:
    """The list says why to its owner, and its end may stay in the past."""
    hours = {"from": (now - timedelta(days=99)).date().isoformat(), "group_by": ["hour"]}
    over = {"name": "Hours", "query": hours, "expires_at": now + timedelta(minutes=1)}
    made = await create_report(database, organization.id, over, now - timedelta(days=1))
    await database["reports"].update_one(
        {"_id": made.id}, {"$set": {"expires_at": now - timedelta(hours=1), "query.from": "2025-01-01"}}
    )
    listed = words((await person.get("/reports")).text)
    assert "Can't be shown query.group_by with hour needs a period of at most 100 days" in listed
    assert "Closed since 18 Mar 2026" in listed
    path = f"/reports/{made.id}"
    assert (await person.send(path, path, name="Renamed")).status_code == 303
    assert (await only_report(database, organization)).name == "Renamed"
