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
    """Each counts once a day, however many they are; the page says what a visitor is."""
    link = await make_link(person, organization, database)
    for days_ago, visitors in ((1, 7), (29, 5000), (30, 3)):
        at = midday - timedelta(days=days_ago)
        await ship(database, [click(link.org_id, link.id, at, visitor=n // 2) for n in range(2 * visitors)])
    page = (await person.get(f"/links/{link.id}")).text
    rows = table(page, BY_DAY, VISITORS)
    few, many = days(midday, (1, 29))
    assert (rows.pop(few), rows.pop(many)) == ("7", "5,000")
    assert set(rows.values()) == {"0"}
    assert "who comes on two days counts twice" in page


async def test_the_last_hours_have_no_visitors(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """A visitor is known for a whole day only."""
    link = await make_link(person, organization, database)
    page = (await person.get(f"/links/{link.id}?period=day")).text
    assert '<th scope="col" class="number">Clicks</th></tr>' in page
    assert "<span>Visitors <strong>" not in page


async def test_days_are_those_of_the_browser(
    person: Person, organization: TestOrganization, database: Database, midday: datetime
) -> None:
    """Clicks and visitors count on the day that it was where the person is, a quarter past midnight too."""
    link = await make_link(person, organization, database)
    zone = ZoneInfo("Asia/Kathmandu")  # 5:45 hours before UTC
    today = midday.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    at = [today - timedelta(minutes=1), today - timedelta(days=1), today - timedelta(days=1, minutes=1)]
    await ship(
        database, [click(link.org_id, link.id, moment, visitor=number) for number, moment in enumerate(at)]
    )
    person.client.cookies.set("waylink_zone", zone.key, domain="localhost.local")
    page = (await person.get(f"/links/{link.id}")).text
    yesterday, before = days(today, (1, 2))
    for column in (1, VISITORS):
        rows = table(page, BY_DAY, column)
        assert (rows[yesterday], rows[before]) == ("2", "1")
    assert page.count('<span class="soft">(Asia/Kathmandu)</span>') == 1


async def test_hours_are_those_of_the_browser(
    person: Person, organization: TestOrganization, database: Database, midday: datetime
) -> None:
    """They begin where its clocks show a whole hour."""
    link = await make_link(person, organization, database)
    zone = ZoneInfo("Asia/Kathmandu")
    hour = midday.astimezone(zone).replace(minute=0, second=0, microsecond=0)
    at = [hour - timedelta(hours=2), hour - timedelta(hours=2, seconds=1), hour - timedelta(hours=23)]
    await ship(database, [click(link.org_id, link.id, moment) for moment in at])
    person.client.cookies.set("waylink_zone", zone.key, domain="localhost.local")
    page = (await person.get(f"/links/{link.id}?period=day")).text
    rows = table(page, "Clicks by hour, this hour and the 23 before")
    names = [f"{hour - timedelta(hours=ago):%-d %b, %H:00}" for ago in range(24)]
    assert list(rows) == names
    assert [rows[names[ago]] for ago in (2, 3, 23)] == ["1", "1", "1"]
