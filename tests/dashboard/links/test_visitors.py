"""A link's page: its visitors by day, beside its clicks."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import httpx

from backend.app import Service
from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link_at
from tests.dashboard.links.test_analytics import BY_DAY, days, table
from tests.dashboard.people import Person
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.redirector.conftest import DESKTOP

VISITORS = 2  # their column in the table by day
PHONE = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0.0.0 Mobile Safari/537.36"


async def make_link(person: Person, organization: TestOrganization, database: Database) -> Link:
    """A link of the organization that nobody has clicked yet."""
    fields = {"domain": organization.domain, "destination_url": "https://shop.example/", "link_name": "Sale"}
    await person.send("/links/new", "/links/new", selected_path="p", **fields)
    link = await find_link_at(database, organization.domain, "p", organization.id)
    assert link is not None
    return link


async def test_visits_of_one_browser_are_one_visitor(
    service: Service, person: Person, organization: TestOrganization, database: Database, midday: datetime
) -> None:
    """Three clicks of one browser and one of another at the same address are two visitors."""
    link = await make_link(person, organization, database)
    transport = httpx.ASGITransport(app=service, client=("203.0.113.7", 1))
    async with httpx.AsyncClient(transport=transport) as client:
        for agent in (DESKTOP, DESKTOP, PHONE, DESKTOP):
            await client.get(f"http://{link.domain}/{link.path}", headers={"user-agent": agent})

    async def rows() -> tuple[dict[str, str], dict[str, str]]:
        page = (await person.get(f"/links/{link.id}")).text
        return table(page, BY_DAY), table(page, BY_DAY, VISITORS)

    [today] = days(midday, [0])
    clicks, visitors = await wait_for_async(rows, "not counted", lambda seen: seen[0][today] == "4")
    assert visitors.pop(today) == "2"
    assert set(visitors.values()) == {"0"}
    assert list(clicks) == [today, *visitors]


async def test_days_with_few_and_many_visitors(
    person: Person, organization: TestOrganization, database: Database, midday: datetime
) -> None:
    """Each counts once a day, however many they are; the page says what a visitor is.

    Clicks and visitors count on the day that it was where the person is, a quarter past midnight too.
    """
    link = await make_link(person, organization, database)
    zone = ZoneInfo("Asia/Kathmandu")  # 5:45 hours before UTC
    today = midday.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    long_ago, too_long_ago = (today + timedelta(hours=12) - timedelta(days=ago) for ago in (29, 30))
    at = [today - timedelta(minutes=1), today - timedelta(days=1), today - timedelta(days=1, minutes=1)]
    clicks = [click(link.org_id, link.id, moment, visitor=number) for number, moment in enumerate(at)]
    clicks += [click(link.org_id, link.id, at[0], visitor=0)]
    clicks += [click(link.org_id, link.id, long_ago, visitor=number // 2) for number in range(10_000)]
    await ship(database, [*clicks, click(link.org_id, link.id, too_long_ago, visitor=1)])
    person.client.cookies.set("waylink_zone", zone.key, domain="localhost.local")
    page = (await person.get(f"/links/{link.id}")).text
    named = days(today, (1, 2, 29))
    for column, numbers in ((1, ["3", "1", "10,000"]), (VISITORS, ["2", "1", "5,000"])):
        rows = table(page, BY_DAY, column)
        assert [rows.pop(day) for day in named] == numbers
        assert set(rows.values()) == {"0"}
    assert "who comes on two days counts twice" in page
    assert page.count('<span class="soft">(Asia/Kathmandu)</span>') == 1
