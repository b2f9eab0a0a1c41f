"""A link's page: clicks over time, what they were, and what was not counted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest

from backend.domain.clicks.clicks import NotCounted
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.accounts.organizations import set_click_days
from backend.storage.analytics.click_breakdown import ClickBreakdown, ClickShare
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link_at
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import bought, clicked, figures, make_link, words
from tests.dashboard.people import Person
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization

BY_DAY = "Clicks and visitors by day, today and the 29 days before"


class Clicks:
    """Stores clicks of a link as the shipper does."""

    def __init__(self, database: Database, org_id: OrgId, link_id: LinkId) -> None:
        self.database, self.org_id, self.link_id = database, org_id, link_id

    async def add(
        self, at: datetime, number: int = 1, *, platform: str = "desktop", country: str | None = None,
        referrer: str | None = None, reason: NotCounted | None = None,
    ) -> None:  # fmt: skip
        """So many clicks at a time, or as many requests that were not counted for a reason."""
        made = click(
            self.org_id, self.link_id, at, platform=platform, country=country, referrer_host=referrer,
            reason=reason,
        )  # fmt: skip
        await ship(self.database, [made] * number)


@pytest.fixture
async def clicks(
    person: Person, organization: TestOrganization, database: Database, midday: datetime
) -> Clicks:
    """A link of the organization, made at midday, that nobody has clicked yet."""
    fields = {"domain": organization.domain, "destination_url": "https://shop.example/", "link_name": "Sale"}
    await person.send("/links/new", "/links/new", selected_path="p", **fields)
    link = await find_link_at(database, organization.domain, "p", organization.id)
    assert link is not None
    return Clicks(database, organization.id, link.id)


def table(page: str, caption: str, column: int = 1) -> dict[str, str]:
    """The rows of the table with this caption: its first cells, without marks, with those of a column."""
    match = re.search(
        rf"<table[^>]*>\s*<caption[^>]*>{re.escape(caption)}</caption>(.*?)</table>", page, re.S
    )
    assert match, f"no table {caption!r}"
    rows = re.findall(r"<tr>(.*?)</tr>", match[1].partition("<tbody>")[2], re.S)
    cells = [[words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)] for row in rows]
    return {name.removesuffix(" (partly)"): others[column - 1] for name, *others in cells}


def shares(page: str, title: str) -> list[tuple[str, str]]:
    """What a card says that clicks were, with counts."""
    card = page.partition(f'<section class="card" aria-label="{title}">')[2].partition("</section>")[0]
    names = re.findall(r'<span class="share-name"[^>]*>(.*?)</span>', card)
    counts = re.findall(r'<span class="share-count">(?:<a [^>]*>)?([\d,]+)', card)
    return list(zip(names, counts, strict=True))


def days(now: datetime, ago: Iterable[int]) -> list[str]:
    """The days so long ago, as the chart names them."""
    return [(now - timedelta(days=number)).strftime("%-d %b") for number in ago]


async def test_clicks_by_day(person: Person, clicks: Clicks, midday: datetime) -> None:
    """Each of thirty days has its clicks, those without any included; older clicks only count in all."""
    for ago, count in ((0, 3), (1, 1), (29, 2), (31, 5)):
        await clicks.add(midday - timedelta(days=ago), count)
    page = (await person.get(f"/links/{clicks.link_id}")).text
    rows = table(page, BY_DAY)
    assert list(rows) == days(midday, range(30))
    today, yesterday, oldest = days(midday, (0, 1, 29))
    assert (rows.pop(today), rows.pop(yesterday), rows.pop(oldest)) == ("3", "1", "2")
    marked = re.findall(r'<th scope="row" data-label="([^"]+)">[^<]+ <span class="soft">\(partly\)', page)
    assert marked == [today]
    assert set(rows.values()) == {"0"}
    assert re.findall(r"<dt>(.*?)</dt><dd><a [^>]*>(\d+)</a></dd>", page)[:1] == [("Clicks in all", "11")]


async def test_clicks_of_another_service(person: Person, clicks: Clicks, midday: datetime) -> None:
    """What another service had counted stands beside our clicks, named and dated, and is in none of them."""
    history = {"count": 1042, "source": "Bitly", "imported_at": datetime(2026, 1, 2, tzinfo=UTC)}
    await clicks.database["links"].update_one({"_id": clicks.link_id}, {"$set": {"imported_clicks": history}})
    await clicks.add(midday, 3)
    page = (await person.get(f"/links/{clicks.link_id}")).text
    figures = re.findall(r"<dt>(.*?)</dt><dd>(?:<a [^>]*>)?([\d,]+)", page)[:4]
    assert figures == [
        ("Clicks in all", "3"), ("Last 30 days", "3"), ("Last 7 days", "3"), ("Before, by Bitly", "1,042"),
    ]  # fmt: skip
    assert "Bitly had counted 1,042 when the link was imported on 2 Jan 2026." in page


async def test_clicks_by_hour(person: Person, clicks: Clicks, midday: datetime) -> None:
    """Each of the last 24 hours has its clicks, across midnight in UTC."""
    for ago, count in ((0, 2), (5, 1), (23, 4), (24, 7)):
        await clicks.add(midday - timedelta(hours=ago), count)
    rows = table(
        (await person.get(f"/links/{clicks.link_id}?period=day")).text,
        "Clicks by hour, this hour and the 23 before",
    )
    names = [(midday.astimezone(UTC) - timedelta(hours=n)).strftime("%-d %b, %H:00") for n in range(24)]
    assert list(rows) == names
    assert [rows[names[n]] for n in (0, 5, 23)] == ["2", "1", "4"]
    assert sum(map(int, rows.values())) == 7


async def test_charts_get_the_plain_numbers(person: Person, clicks: Clicks, midday: datetime) -> None:
    """What a chart is drawn from stands in its table, without the commas that people read."""
    await clicks.add(midday, 1234)
    page = (await person.get(f"/links/{clicks.link_id}")).text
    assert len(re.findall('<td class="number" data-value="1234"><a [^>]+>1,234</a></td>', page)) == 1
    assert "<span>Clicks <strong>1,234</strong></span>" in page
    assert page.count('<figure class="chart" data-chart="columns">') == 1  # clicks and visitors


async def test_what_clicks_were(person: Person, clicks: Clicks, midday: datetime) -> None:
    """Platforms, countries and referrers, most first; unknown ones are named so."""
    await clicks.add(midday, 3, platform="ios", country="DE", referrer="news.example")
    await clicks.add(midday, 2, platform="desktop", country=None)
    await clicks.add(midday, 4, country="FR", reason=NotCounted.CRAWLER)
    page = (await person.get(f"/links/{clicks.link_id}")).text
    assert shares(page, "Platform") == [("iOS", "3"), ("Desktop", "2")]
    assert shares(page, "Country") == [("DE", "3"), ("Unknown", "2")]
    assert shares(page, "Referrer") == [("news.example", "3"), ("None: typed, scanned, or not told", "2")]


async def test_what_was_not_counted(person: Person, clicks: Clicks, midday: datetime) -> None:
    """Every reason has its number and words; such requests are in no other figure."""
    for number, reason in enumerate(NotCounted, start=1):
        await clicks.add(midday, number, reason=reason)
    page = (await person.get(f"/links/{clicks.link_id}")).text
    rows = table(page, "Requests for the link that are no clicks, and why")
    assert list(rows.values()) == [str(number) for number in range(len(NotCounted), 0, -1)]
    assert not set(rows) & set(NotCounted)
    assert shares(page, "Platform") == []


async def test_the_period_bounds_the_breakdown(person: Person, clicks: Clicks, midday: datetime) -> None:
    """The last 24 hours are broken down by whole days: today and yesterday, and no day before."""
    for ago, country in enumerate(("DE", "IT", "FR")):
        await clicks.add(midday - timedelta(days=ago), 3 - ago, country=country)
    page = (await person.get(f"/links/{clicks.link_id}?period=day")).text
    assert shares(page, "Country") == [("DE", "3"), ("IT", "2")]
    assert "today and yesterday" in page
    assert len(shares((await person.get(f"/links/{clicks.link_id}")).text, "Country")) == 3


async def test_where_single_clicks_are_gone_from(
    person: Person, clicks: Clicks, database: Database, midday: datetime
) -> None:
    """A link that is older than single clicks are kept says from when on they are there."""
    created = midday - timedelta(days=450)
    await database["links"].update_one({"_id": clicks.link_id}, {"$set": {"created_at": created}})
    since = midday - timedelta(days=400)
    page = (await person.get(f"/links/{clicks.link_id}")).text
    assert f"Single clicks from before {since.strftime('%-d %b %Y')} are deleted" in page
    await set_click_days(database, clicks.org_id, None)
    assert "are deleted" not in (await person.get(f"/links/{clicks.link_id}")).text


async def test_clicks_of_another_organization_are_left_out(
    clicks: Clicks, analytics: Analytics, make_organization: OrganizationFactory, midday: datetime
) -> None:
    """Whatever link id is asked for, only the organization's own clicks are read."""
    await clicks.add(midday, 2, country="DE")
    question = ClickBreakdown(clicks.link_id, midday, 30)
    assert (await analytics.ask(clicks.org_id, question)).countries == [ClickShare("DE", 2)]
    assert (await analytics.ask((await make_organization()).id, question)).countries == []


async def test_what_came_of_a_link(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """A link's own sales stand on its page, beside what they were before; other links' do not."""
    other = await make_link(database, organization, "Other", now, utm_campaign="spring")
    await clicked(database, link, now - timedelta(days=1), 4)
    await bought(database, link, now - timedelta(days=1), "1234567.89")
    await bought(database, link, now - timedelta(days=30), "5")
    await bought(database, other, now - timedelta(days=1), "7")
    page = (await person.get(f"/links/{link.id}")).text
    shown = figures(page)
    assert {name: number for name, (number, _) in shown.items()} == {
        "Leads": "0", "Conversions": "1", "Conversion rate": "25.00 %", "Customers": "0", "Contacts": "0",
        "Revenue": "1,234,568 EUR",
    }  # fmt: skip
    assert shown["Conversions"][1] == "=the same against the 28 days before: 1"
    assert f'href="/?link={link.id}"' in page
