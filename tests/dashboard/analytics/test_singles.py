"""Numbers lead to what they count: single clicks, and single sales with their explanation."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime, timedelta
from html import unescape

from backend.domain.clicks.clicks import NotCounted
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import bought, clicked, make_link, rows
from tests.dashboard.people import Person
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization


def rows_address(page: str, number: str) -> str:
    """Where the number in a table leads."""
    match = re.search(rf'<td[^>]*><span><a href="([^"]+)">{re.escape(number)}</a>', page)
    assert match, f"{number!r} leads nowhere"
    return unescape(match[1])


async def test_a_number_leads_to_its_clicks(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """Those of its row and of the page's filters, counted or not; the file has all of them."""
    other = await make_link(database, organization, "Autumn", now, utm_campaign="autumn")
    await clicked(database, link, now - timedelta(hours=1), 3, "DE")
    await clicked(database, link, now - timedelta(days=40), 1, "DE")
    await clicked(database, link, now, 2, "FR")
    await clicked(database, other, now, 4, "DE")
    await ship(database, [click(link.org_id, link.id, now, reason=NotCounted.CRAWLER, country="DE")])
    own = (await person.get(f"/links/{link.id}")).text
    assert f'href="/clicks?link={link.id}"' in own
    assert f'href="/sales?link={link.id}&amp;of=leads"' in own
    for path in ("/?country=DE&chart=leads", "/attribution?country=DE&touch=first"):
        address = rows_address((await person.get(path)).text, "3")
        assert address == "/clicks?country=DE&campaign=spring"
    page = (await person.get(address)).text
    assert [row[1:] for row in rows(page)] == [[
        "Spring", "Desktop, Linux, Firefox", "DE", "None", "To the website",
    ]] * 3  # fmt: skip
    [crawler] = rows((await person.get(f"{address}&of=not_counted")).text)
    assert crawler[-1] == "Not counted: a crawler"
    head, *lines = csv.reader(io.StringIO((await person.get(address.replace("/clicks", "/clicks.csv"))).text))
    assert head[:3] == ["time", "link_id", "link_name"]
    assert [line[1] for line in lines] == [link.id] * 3


async def test_pages_of_clicks(person: Person, database: Database, link: Link, now: datetime) -> None:
    """Fifty on each, also of one moment, ten of them unfolded on a phone; a place that nobody can have been
    given is the beginning."""
    await clicked(database, link, now, 60)
    first = (await person.get("/clicks")).text
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following
    last = (await person.get(unescape(following[1]))).text
    assert [len(rows(first)), len(rows(last))] == [50, 10]
    assert ["All 50 rows" in first, "fold rest" in last] == [True, False]
    assert len(rows((await person.get("/clicks?after=x-1")).text)) == 50


async def test_revenue_leads_to_its_sales(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """By the rules of credit of the page; a sale with an order id leads to its explanation by these rules."""
    other = await make_link(database, organization, "Autumn", now, utm_campaign="autumn")
    await bought(database, link, now, "30", after=other, refunded="4")
    await bought(database, other, now, "7")
    page = (await person.get("/attribution?touch=first&by=campaign")).text
    address = rows_address(page, "37.00")
    assert address == "/sales?touch=first&campaign=autumn"
    page = (await person.get(address)).text
    assert sorted([row[1], *row[3:6]] for row in rows(page)) == [
        ["30.00 EUR 4.00 paid back", "Autumn", "–", "–"],
        ["7.00 EUR", "Autumn", "–", "–"],
    ]
    explained = re.search(r'href="(/attribution/sale\?[^"]+)"', page)
    assert explained
    assert "the first touch of the same device" in (await person.get(unescape(explained[1]))).text
    halves = rows((await person.get("/sales?touch=linear&campaign=spring")).text)
    assert [row[3] for row in halves] == ["Spring, 50 % of it"]
    _, *lines = csv.reader(io.StringIO((await person.get("/sales.csv?campaign=spring&touch=linear")).text))
    assert [(line[4], line[7], line[10]) for line in lines] == [("30.00", "0.500000", "Spring")]


async def test_nothing_of_another_organization(
    person: Person, database: Database, make_organization: OrganizationFactory, now: datetime
) -> None:
    """Neither clicks nor sales of others are shown, also if their link is asked for."""
    link = await make_link(database, await make_organization(), "Theirs", now, utm_campaign="theirs")
    await clicked(database, link, now)
    await bought(database, link, now, "5")
    for path in ("/clicks", "/sales", f"/clicks?link={link.id}", f"/sales?link={link.id}"):
        assert rows((await person.get(path)).text) == []
    for path in ("/clicks.csv", "/sales.csv"):
        assert len((await person.get(path)).text.splitlines()) == 1
