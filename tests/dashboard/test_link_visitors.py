"""A link's page: its visitors by day, beside its clicks."""

from __future__ import annotations

from datetime import timedelta

import httpx
from bson import Binary

from backend.app import Service, utc_now
from backend.domain.ids import OrgId
from backend.domain.links import Link
from backend.storage.click_counts import NAME
from backend.storage.click_visitors import visitors_by_day
from backend.storage.links import find_link_at
from backend.storage.mongo import Database
from backend.storage.visitor_sketches import add_visitors, count_visitors
from tests.dashboard.people import Person
from tests.dashboard.test_link_analytics import days, table
from tests.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.redirector.conftest import DESKTOP

CAPTION = "Visitors by day, today and the 29 days before"
PHONE = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0.0.0 Mobile Safari/537.36"


async def make_link(person: Person, organization: TestOrganization, database: Database) -> Link:
    """A link of the organization that nobody has clicked yet."""
    fields = {"domain": organization.domain, "destination_url": "https://shop.example/", "link_name": "Sale"}
    await person.send("/links/new", "/links/new", selected_path="p", **fields)
    link = await find_link_at(database, organization.domain, "p", organization.id)
    assert link is not None
    return link


async def store_day(database: Database, link: Link, days_ago: int, visitors: int) -> None:
    """The counts of a day so long ago with so many visitors, as a fold leaves them."""
    day = f"day/{utc_now() - timedelta(days=days_ago):%Y-%m-%d}"
    owner = {"org_id": link.org_id, "link_id": link.id}
    counts = {"parts": {"0": visitors}, "visitors": Binary(add_visitors(None, range(visitors)))}
    document = {"_id": f"{link.id}/{day}", **owner, **counts}
    await database[NAME].insert_one(document)


async def test_visits_of_one_browser_are_one_visitor(
    service: Service, person: Person, organization: TestOrganization, database: Database
) -> None:
    """Three clicks of one browser and one of another at the same address are two visitors."""
    link = await make_link(person, organization, database)
    transport = httpx.ASGITransport(app=service, client=("203.0.113.7", 1))
    async with httpx.AsyncClient(transport=transport) as client:
        for agent in (DESKTOP, DESKTOP, PHONE, DESKTOP):
            await client.get(f"http://{link.domain}/{link.path}", headers={"user-agent": agent})

    async def rows() -> tuple[dict[str, str], dict[str, str]]:
        page = (await person.get(f"/links/{link.id}")).text
        return table(page, "Clicks by day, today and the 29 days before"), table(page, CAPTION)

    [today] = days(utc_now(), [0])
    clicks, visitors = await wait_for_async(rows, "not counted", lambda seen: seen[0][today] == "4")
    assert visitors.pop(today) == "2"
    assert set(visitors.values()) == {"0"}
    assert list(clicks) == [today, *visitors]


async def test_days_with_few_and_many_visitors(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """Few exactly, many as estimated; the page says what a visitor is and how large the error is."""
    link = await make_link(person, organization, database)
    for days_ago, visitors in ((1, 7), (29, 5000), (30, 3)):
        await store_day(database, link, days_ago, visitors)
    page = (await person.get(f"/links/{link.id}")).text
    rows = table(page, CAPTION)
    few, many = days(utc_now(), (1, 29))
    assert rows.pop(few) == "7"
    assert rows.pop(many) == f"{count_visitors(add_visitors(None, range(5000))):,}"
    assert set(rows.values()) == {"0"}
    assert "who comes on two days counts twice" in page
    assert "Up to 256 a day are counted exactly" in page
    assert "a standard error of 1.6%" in page


async def test_the_last_hours_have_no_visitors(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """A visitor is known for a whole day only."""
    link = await make_link(person, organization, database)
    assert "Visitors by" not in (await person.get(f"/links/{link.id}?period=day")).text


async def test_visitors_of_another_organization_are_left_out(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """Whatever link id is asked for."""
    link = await make_link(person, organization, database)
    await store_day(database, link, 0, 3)
    own = await visitors_by_day(database, link.id, link.org_id, utc_now())
    others = await visitors_by_day(database, link.id, OrgId("another"), utc_now())
    assert (own[-1].count, others[-1].count) == (3, 0)
