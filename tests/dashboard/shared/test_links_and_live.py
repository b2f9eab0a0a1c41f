"""Shared lists of links, shared Live, and notes in shared charts: what strangers see, and what they don't."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime, timedelta

import httpx

from backend.domain.annotations.annotation import ANNOTATIONS, NotedTime
from backend.domain.links.links import Link
from backend.domain.reports.views import ViewKind
from backend.storage.driver.mongo import Database
from backend.storage.reports.reports import change_report
from backend.storage.resources.things import Things
from tests.dashboard.campaigns import bought, clicked, make_link, rows, table, words
from tests.dashboard.people import Person
from tests.dashboard.shared.conftest import ReportFactory, path_of
from tests.facts.organizations import TestOrganization


async def test_a_list_of_links(
    reader: httpx.AsyncClient,
    make_report: ReportFactory,
    database: Database,
    link: Link,
    organization: TestOrganization,
    now: datetime,
) -> None:
    """Names, short URLs and figures of the first ones in its order, also as a file, and never where they
    lead."""
    other = await make_link(database, organization, "quiet", now, utm_campaign="spring")
    await clicked(database, other, now - timedelta(days=1), 5)
    await clicked(database, link, now - timedelta(days=1), 3)
    await bought(database, link, now - timedelta(days=1), "4321.50")
    query = {"filters": {"campaign": "spring"}, "order_by": "-revenue", "limit": 1}
    report = await make_report(kind=ViewKind.LINKS, query=query, shows_revenue=True)
    page = (await reader.get(path_of(report))).text
    [row] = rows(page)
    assert row[0] == f"Spring {link.domain}/{link.path}"
    assert row[1:4] == ["3", "1", "4,321.50"]
    assert "2 links, by revenue, most first. " in words(page)
    assert "1 more link is not in this report." in page
    assert link.destination_url not in page
    hidden = await make_report(kind=ViewKind.LINKS, query=query | {"order_by": "-clicks", "limit": 9})
    heads, *lines = csv.reader(io.StringIO((await reader.get(f"{path_of(hidden)}/report.csv")).text))
    assert heads == ["link_name", "short_url", "made", "clicks", "conversions"]
    assert [(line[0], *line[3:]) for line in lines] == [("quiet", "5", "0"), ("Spring", "3", "1")]


async def test_live(
    reader: httpx.AsyncClient, make_report: ReportFactory, database: Database, link: Link, now: datetime
) -> None:
    """How much happened in each of the last minutes, and of which links; without revenue no amount."""
    await clicked(database, link, now - timedelta(minutes=2), 3, country="NZ")
    await clicked(database, link, now - timedelta(minutes=31), 50)
    await bought(database, link, now - timedelta(minutes=2), "12.50", customer="ada@shop.example")
    shown = await make_report(kind=ViewKind.LIVE, query={}, shows_revenue=True)
    page = (await reader.get(path_of(shown))).text
    assert "The last 30 minutes" in page
    assert re.findall('measure-number">([^<]+)<', page) == ["3", "0", "1"]
    assert (table(page, "Clicks by link"), table(page, "Clicks by country")) == (
        [["Spring", "3"]],
        [["NZ", "3"]],
    )
    assert "12.50 EUR" in page
    minute = f"{now - timedelta(minutes=2):%H:%M}"
    assert [minute, "3", "0", "1"] in rows(page.partition("Minute by minute, the newest")[2])
    hidden = await make_report(kind=ViewKind.LIVE, query={"measures": ["conversions"]})
    for path in (path_of(hidden), f"{path_of(hidden)}/report.csv"):
        text = (await reader.get(path)).text
        assert not [word for word in ("EUR", "12.50", "ada@", link.id) if word in text], path


async def test_notes_where_they_are_wanted(
    reader: httpx.AsyncClient,
    person: Person,
    make_report: ReportFactory,
    database: Database,
    link: Link,
    now: datetime,
) -> None:
    """A report's chart has notes only if its owner chose so; the page of the notes says who sees them."""
    await clicked(database, link, now - timedelta(days=1), 3)
    noted = {"at": NotedTime.of_day(now.date() - timedelta(days=1)), "text": "Letter sent"}
    await Things(ANNOTATIONS).add(database, link.org_id, noted, now)
    of_link = {"at": noted["at"], "text": "Poster up", "link_id": link.id}
    await Things(ANNOTATIONS).add(database, link.org_id, of_link, now)
    report = await make_report()
    assert "Letter sent" not in (await reader.get(path_of(report))).text
    assert "Only people of" in (await person.get("/annotations")).text
    await person.send(f"/reports/{report.id}", f"/reports/{report.id}", shows_notes="on")
    page = (await reader.get(path_of(report))).text
    assert "Letter sent" in page
    assert "Poster up" not in page  # the report is of a campaign, and not of this link
    assert "/annotations" not in page
    told = words((await person.get("/annotations")).text)
    assert "Readers without an account see notes too, in the charts of For the agency" in told
    query = {"group_by": ["day"], "filters": {"link": [link.id]}}
    await change_report(database, link.org_id, report.id, {"query": query}, now)
    assert "Poster up" in (await reader.get(path_of(report))).text
