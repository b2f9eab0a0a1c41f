"""A link's page: its latest clicks, one by one, live."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from html import unescape

import httpx
import pytest
from playwright.sync_api import Page, expect

from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.analytics.clicks.latest_clicks import MOST_CLICKS, LatestClicks
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.dashboard.links.test_visitors import make_link
from tests.dashboard.office import Office, make_key, make_organization, make_user
from tests.dashboard.people import Person
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.processes.service_process import ServiceProcess

OTHER = LinkId("11111111-0c9e-4a04-9d0e-6f2f1f6b1f2a")


@pytest.fixture
async def link(person: Person, organization: TestOrganization, database: Database) -> Link:
    """A link of the organization that nobody has clicked yet."""
    return await make_link(person, organization, database)


def rows(html: str) -> list[list[str]]:
    """The cells of each row."""
    table_rows = re.findall(r'<tr data-at="\d.*?</tr>', html, re.S)
    return [
        [unescape(re.sub("<.*?>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in table_rows
    ]


async def test_what_a_row_says(person: Person, link: Link, database: Database) -> None:
    """Time, device, country, referrer, and what came of it; the newest first."""
    now = utc_now().replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=3)
    first = click(
        link.org_id, link.id, now, platform="ios", system="iOS", browser="Safari", country="DE",
        referrer_host="<b>.example",
    )  # fmt: skip
    checked = click(link.org_id, link.id, now + timedelta(seconds=5), reason="head")
    await ship(database, [first, checked, click(link.org_id, OTHER, now)])
    await ship(database, [click(link.org_id, link.id, utc_now(), system="Windows", browser="Edge")])
    page = (await person.get(f"/links/{link.id}")).text
    newest, second, third = rows(page)
    assert newest[1:] == ["Desktop, Windows, Edge", "Unknown", "None", "To the website"]
    assert second[0] == f"{now:%-d %b}, 12:00:05"
    assert second[-1] == "Not counted: a check (HEAD)"
    assert third == [f"{now:%-d %b}, 12:00:00", "iOS, Safari", "DE", "<b>.example", "To the website"]


async def test_a_link_without_clicks(person: Person, link: Link) -> None:
    """It says so."""
    page = (await person.get(f"/links/{link.id}")).text
    assert rows(page) == []
    assert '<p class="soft" data-latest-none>None yet.</p>' in page


async def test_the_last_hundred(link: Link, database: Database, analytics: Analytics) -> None:
    """From several blocks and days, whose times overlap, those that are newest."""
    start = utc_now().replace(hour=1) - timedelta(days=4)
    ats = [start + timedelta(minutes=5 * number) for number in range(600)]
    for part in (ats[::3], ats[1::3], ats[2::3]):
        await ship(database, [click(link.org_id, link.id, at) for at in part])
    clicks = await analytics.ask(link.org_id, LatestClicks(link.org_id, link.id))
    milliseconds = [at.replace(microsecond=at.microsecond // 1000 * 1000) for at in ats]
    assert len(clicks) == MOST_CLICKS
    for seen, at in zip(clicks, milliseconds[:-101:-1], strict=True):
        assert abs(seen.at - at) <= timedelta(milliseconds=1)


async def test_nothing_of_another_organization(
    link: Link, database: Database, analytics: Analytics, make_organization: OrganizationFactory
) -> None:
    """Whatever link id is asked for, and although their clicks came in one log."""
    other = await make_organization()
    now = utc_now()
    await ship(database, [click(link.org_id, link.id, now), click(other.id, OTHER, now)])
    assert await analytics.ask(link.org_id, LatestClicks(link.org_id, OTHER)) == []
    assert await analytics.ask(other.id, LatestClicks(other.id, link.id)) == []
    assert len(await analytics.ask(other.id, LatestClicks(other.id, OTHER))) == 1


async def test_the_script_asks_for_newer_ones(person: Person, link: Link, database: Database) -> None:
    """It gets the rows since a time, and the time to ask for next; another organization's link is unknown."""
    now = utc_now()
    await ship(database, [click(link.org_id, link.id, now - timedelta(seconds=ago)) for ago in (1, 90)])
    since = int((now - timedelta(minutes=1)).timestamp() * 1000)
    answer = (await person.get(f"/links/{link.id}/clicks?since={since}")).json()
    [row] = answer["rows"]
    assert (row["device"], row["outcome"]) == ("Desktop, Linux, Firefox", "To the website")
    assert since < answer["since"] < utc_now().timestamp() * 1000
    nothing = (await person.get(f"/links/{link.id}/clicks?since={answer['since'] + 60_000}")).json()
    assert nothing["rows"] == []
    assert (await person.get(f"/links/{link.id}/clicks?since=soon")).status_code == 400
    assert (await person.get(f"/links/{uuid.uuid4()}/clicks?since=0")).status_code == 404


def test_new_clicks_appear(page: Page, running: ServiceProcess) -> None:
    """In a browser, without loading the page again: the first, and the next above it."""
    org = make_organization(running, "Acme")
    domain = f"go.{uuid.uuid4().hex[:8]}.localhost"
    running.command("domain", "add", domain, "--org", org)
    headers = {"API-KEY": make_key(running, org, "rest")}
    api = f"{running.base_url}/serviceCore/pa/v1"
    body = {"domain": domain, "selected_path": "a", "destination_url": "https://a.example", "link_name": "A"}
    httpx.post(f"{api}/create-link", json=body, headers=headers, timeout=60)
    link_id = httpx.get(f"{api}/links/page", headers=headers, timeout=60).json()["links"][0]["id"]
    Office(running.base_url, make_user(running, org), {}).open_session(page)
    page.goto(f"{running.base_url}/links/{link_id}")
    expect(page.get_by_text("None yet.")).to_be_visible()
    shown = page.locator("[data-latest] tr")
    for number, referrer in enumerate(("one.example", "two.example"), 1):
        visit = {"Host": domain, "Referer": f"https://{referrer}/", "User-Agent": "Mozilla/5.0 (iPhone)"}
        assert httpx.get(f"{running.base_url}/a", headers=visit, timeout=60).status_code == 302
        expect(shown).to_have_count(number, timeout=20_000)
        expect(shown.first).to_contain_text(referrer)
    expect(page.get_by_text("None yet.")).to_be_hidden()
