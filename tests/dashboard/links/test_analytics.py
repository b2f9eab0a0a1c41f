"""A link's page: clicks over time, what they were, and what was not counted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from backend.domain.clicks.clicks import NotCounted
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.accounts.organizations import set_click_days
from backend.storage.analytics.clicks.click_breakdown import ClickBreakdown, ClickShare
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


async def test_a_link_s_page(person: Person, clicks: Clicks, database: Database, midday: datetime) -> None:
    """Each of thirty days has its clicks, those without any included; older clicks only count in all.

    What a chart is drawn from stands in its table, without the commas that people read. Platforms, countries
    and referring sites come most first, unknown ones are named so. Every reason for not counting has its
    number and words; such requests are in no other figure. What another service had counted stands beside
    our clicks, named and dated, and is in none of them. A link that is older than single clicks are kept says
    from when on they are there, and one whose time is over that it is.
    """
    history = {"count": 1042, "source": "Bitly", "imported_at": datetime(2026, 1, 2, tzinfo=UTC)}
    old: dict[str, object] = {"created_at": midday - timedelta(days=450)}
    old |= {"limits.expires_at": midday - timedelta(days=1)}
    old["imported_clicks"] = history
    await database["links"].update_one({"_id": clicks.link_id}, {"$set": old})
    await clicks.add(midday, 1230, platform="ios", country="DE", referrer="www.google.de")
    await clicks.add(midday, 4, platform="ios", country="DE", referrer="google.co.uk")
    for ago, count in ((1, 1), (29, 2), (31, 5)):
        await clicks.add(midday - timedelta(days=ago), count)
    for number, reason in enumerate(NotCounted, start=1):
        await clicks.add(midday, number, country="FR", reason=reason)
    page = (await person.get(f"/links/{clicks.link_id}")).text
    assert '<span class="badge bad">Expired</span>' in page
    rows = table(page, BY_DAY)
    assert list(rows) == days(midday, range(30))
    today, yesterday, oldest = days(midday, (0, 1, 29))
    assert (rows.pop(today), rows.pop(yesterday), rows.pop(oldest)) == ("1,234", "1", "2")
    marked = re.findall(r'<th scope="row" data-label="([^"]+)">[^<]+ <span class="soft">\(partly\)', page)
    assert marked == [today]
    assert set(rows.values()) == {"0"}
    assert len(re.findall('<td class="number" data-value="1234"><a [^>]+>1,234</a></td>', page)) == 1
    assert "<span>Clicks <strong>1,237</strong></span>" in page
    assert page.count('<figure class="chart" data-chart="columns">') == 1  # clicks and visitors
    assert shares(page, "Platform") == [("iOS", "1,234"), ("Desktop", "3")]
    assert shares(page, "Country") == [("DE", "1,234"), ("Unknown", "3")]
    assert shares(page, "Referring site") == [
        ("Google", "1,234"), ("None: typed, scanned, or not told", "3"),
    ]  # fmt: skip
    rows = table(page, "Requests for the link that are no clicks, and why")
    assert list(rows.values()) == [str(number) for number in range(len(NotCounted), 0, -1)]
    assert not set(rows) & set(NotCounted)
    assert re.findall(r"<dt>(.*?)</dt><dd>(?:<a [^>]*>)?([\d,]+)", page)[:4] == [
        ("Clicks in all", "1,242"), ("Last 30 days", "1,237"), ("Last 7 days", "1,235"),
        ("Before, by Bitly", "1,042"),
    ]  # fmt: skip
    assert "Bitly had counted 1,042 when the link was imported on 2 Jan 2026." in page
    since = midday - timedelta(days=400)
    assert f"Single clicks from before {since.strftime('%-d %b %Y')} are deleted" in page


async def test_the_last_hours(person: Person, clicks: Clicks, database: Database, midday: datetime) -> None:
    """Each of the last 24 hours has its clicks, and begins where the browser's clock shows a whole hour.

    They are broken down by whole days: today and yesterday, and no day before. A visitor is known for a whole
    day only. Without a bound for single clicks none are said to be deleted.
    """
    old = {"created_at": midday - timedelta(days=450)}
    await database["links"].update_one({"_id": clicks.link_id}, {"$set": old})
    await set_click_days(database, clicks.org_id, None)
    zone = ZoneInfo("Asia/Kathmandu")
    person.client.cookies.set("waylink_zone", zone.key, domain="localhost.local")
    hour = midday.astimezone(zone).replace(minute=0, second=0, microsecond=0)
    await clicks.add(midday, 2, country="DE")
    await clicks.add(hour - timedelta(hours=2), 5, country="DE")
    await clicks.add(hour - timedelta(hours=2, seconds=1), country="DE")
    await clicks.add(hour - timedelta(hours=23), 4, country="IT")
    await clicks.add(hour - timedelta(hours=23, seconds=1), 7, country="IT")
    await clicks.add(hour - timedelta(hours=48), country="FR")
    page = (await person.get(f"/links/{clicks.link_id}?period=day")).text
    rows = table(page, "Clicks by hour, this hour and the 23 before")
    names = [f"{hour - timedelta(hours=ago):%-d %b, %H:00}" for ago in range(24)]
    assert list(rows) == names
    assert [rows[names[ago]] for ago in (0, 2, 3, 23)] == ["2", "5", "1", "4"]
    assert sum(map(int, rows.values())) == 12
    assert shares(page, "Country") == [("IT", "11"), ("DE", "8")]
    assert "today and yesterday" in page
    assert '<th scope="col" class="number">Clicks</th></tr>' in page
    assert "<span>Visitors <strong>" not in page
    assert "by the clock of Asia/Kathmandu." in page
    assert "are deleted" not in page


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
