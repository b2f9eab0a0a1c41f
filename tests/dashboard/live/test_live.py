"""The page Live: what happens right now, in words, and how it goes on."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from backend.app import Service
from backend.dashboard.live import live
from backend.domain.feed.cursor import Cursor
from backend.domain.ids import LinkId
from backend.storage.accounts.users.sessions import set_session_organization
from backend.storage.driver.mongo import Database
from backend.storage.feed import newest
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.dashboard.office import Office, make_key, make_organization, make_user
from tests.dashboard.people import Person
from tests.facts.clicks import click, ship
from tests.facts.feeds import place_all
from tests.facts.organizations import TestOrganization
from tests.facts.put_back import back_up, put_back
from tests.facts.told_history import tell_history
from tests.polling import until, wait_for
from tests.processes.service_process import ServiceProcess

LINK = LinkId("11111111-0c9e-4a04-9d0e-6f2f1f6b1f2a")
STREAM = {"Accept": "text/event-stream"}


def rows(html: str) -> list[list[str]]:
    """The text of each row's cells: what happened, the link, whence, and the amount."""
    table = html.partition("<tbody>")[2].partition("</tbody>")[0]
    table_rows = re.findall(r"<tr>.*?</tr>", table, re.S)
    return [
        [unescape(re.sub("<.*?>", "", cell)).strip() for cell in re.findall(r"<td.*?</td>", row)]
        for row in table_rows
    ]


def cursor_of(html: str) -> str:
    """Where the page's script goes on."""
    match = re.search(r'data-after="([\da-f.]+)"', html)
    assert match
    return match[1]


async def some_clicks(database: Database, organization: TestOrganization, number: int) -> None:
    """Store so many clicks, the last of them from example NUMBER."""
    now = utc_now()
    made = [
        click(organization.id, LINK, now + timedelta(seconds=second), referrer_host=f"{second}.example")
        for second in range(1, number + 1)
    ]
    await ship(database, made)
    await place_all(database, organization.id)


async def test_every_event_in_words(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """The newest first, each with its link, whence it came, and its amount."""
    link_id = await tell_history(client, organization, database)
    page = (await person.get("/live")).text
    short_url = f"https://{organization.domain}"
    assert rows(page) == [
        ["Alert “Limits” 4 of the link's 5 clicks were taken.", "Summer sale", "", ""],
        ["Link deleted for good " + f"{short_url}/unused", "Sale", "", ""],
        ["Link archived " + f"{short_url}/unused", "Sale", "", ""],
        ["Link made " + f"{short_url}/unused", "Sale", "", ""],
        ["A person was erased eve", "", "", ""],
        ["App installed", "Summer sale", "iOS", ""],
        ["Refund order-1", "Summer sale", "", "1.00 EUR"],
        ["Lead l-2, told by a server, customer bob", "", "", ""],
        ["Event “viewed” told by a browser", "Summer sale", "", ""],
        ["Sale order-1, told by a browser, customer ada", "Summer sale", "", "19.99 EUR"],
        ["Lead l-1, told by a browser, customer ada", "Summer sale", "", ""],
        ["Customer identified ada", "", "", ""],
        ["Click, not counted a check (HEAD)", "Summer sale", "Desktop, Linux, Firefox", ""],
        ["Click To the website, from news.example", "Summer sale", "DE iOS, Linux, Firefox", ""],
        ["Link changed Name, Max clicks", "Summer sale", "", ""],
        ["Link made " + f"{short_url}/spring/sale", "Spring sale", "", ""],
    ]  # fmt: skip
    assert f'href="/links/{link_id}" data-cell="link">Summer sale</a>' in page


async def test_types_and_the_newest(
    person: Person, organization: TestOrganization, database: Database, client: httpx.AsyncClient
) -> None:
    """Only the types that are asked for, and of a feed of any length the newest hundred; also of a block."""
    await some_clicks(database, organization, 150)
    await tell_history(client, organization, database)
    await some_clicks(database, organization, 30)
    clicks = rows((await person.get("/live?type=click")).text)
    hosts = [*range(30, 0, -1), None, None, *range(150, 82, -1)]
    assert len(clicks) == 100
    assert [row[0].endswith(f"from {host}.example") for row, host in zip(clicks, hosts, strict=True)] == [
        host is not None for host in hosts
    ]
    sales = await person.get("/live?type=conversion&type=refund&type=nothing")
    assert [row[0].split()[0] for row in rows(sales.text)] == ["Refund", "Sale"]
    assert "Showing only sales, refunds" in sales.text


async def test_a_rare_type_has_a_bound(
    person: Person,
    client: httpx.AsyncClient,
    organization: TestOrganization,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is further back than so many places is not looked for, and the page says so."""
    await tell_history(client, organization, database)
    monkeypatch.setattr(newest, "MOST_PLACES", 3)
    page = (await person.get("/live?type=conversion")).text
    assert rows(page) == []
    assert "Looked for among the last 10,000 entries" in page


async def test_an_empty_feed(person: Person) -> None:
    """It says so, and its script goes on from the last entry: of the audit log, which the page leaves out."""
    page = (await person.get("/live")).text
    assert rows(page) == []
    assert "data-feed-none>Nothing yet" in page
    place, index, *_ = cursor_of(page).split(".")  # and a mark, once the feed has one
    assert (place in {"1", "2", "3"}, index) == (True, "0")  # three keys, as far as they have places


class Stream:
    """What the page's script gets, without a network in between."""

    def __init__(self, service: Service, person: Person, organization: str, after: str) -> None:
        self.sent: list[dict[str, Any]] = []
        self._asked: list[dict[str, Any]] = [{"type": "http.request", "body": b""}]
        self._left = asyncio.Event()
        query = f"organization={organization}&after={after}".encode()
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in person.client.cookies.jar)
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": "/live/stream",
            "raw_path": b"/live/stream",
            "query_string": query,
            "headers": [
                (b"host", b"localhost:8080"), (b"accept", b"text/event-stream"), (b"cookie", cookies.encode())
            ],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 8080),
            "extensions": {},
        }  # fmt: skip
        self.request = asyncio.create_task(service(scope, self._receive, self._send))

    async def __aenter__(self) -> Stream:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._left.set()
        await self.ends()

    async def _receive(self) -> dict[str, Any]:
        if self._asked:
            return self._asked.pop()
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    @property
    def text(self) -> str:
        """What has come."""
        return b"".join(message.get("body", b"") for message in self.sent).decode()

    async def ends(self) -> None:
        """Return once the service has ended it."""
        await asyncio.wait_for(self.request, timeout=20)


async def test_the_stream(
    service: Service, person: Person, organization: TestOrganization, database: Database,
    make_organization: OrganizationFactory, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """It tells only what comes, not more than the page shows, and ends with the session."""
    monkeypatch.setattr(live, "KEEP_ALIVE_SECONDS", 0.5)
    await some_clicks(database, organization, 3)
    after = cursor_of((await person.get("/live")).text)
    async with Stream(service, person, organization.id, after) as stream:
        await until(lambda: ": nothing new" in stream.text, "the stream to begin")
        await some_clicks(database, organization, 130)
        await until(lambda: "event: rows" in stream.text, "rows")
        rows_sent = stream.text.partition("data: ")[2].partition("\n")[0]
        assert rows_sent.count('"what":"Click"') == 100
        assert "130.example" in rows_sent
        assert re.search(rf"id: {Cursor.parse(after).place + 1}\.0\.[0-9a-f]+\nevent: rows", stream.text)
        other = await make_organization()
        await some_clicks(database, other, 1)
        await until(lambda: stream.text.endswith("\n\n"), "the end of a message")
        assert stream.text.count("event: rows") == 1
        session = (await database["sessions"].find({"org_id": organization.id}).to_list())[0]
        await set_session_organization(database, session["_id"], other.id)
        await stream.ends()


async def test_a_feed_that_was_put_back(
    service: Service, person: Person, organization: TestOrganization, database: Database
) -> None:
    """The stream tells what comes after MongoDB was put back, though its place was further on."""
    await some_clicks(database, organization, 1)
    backup = await back_up(database, organization.id)
    await some_clicks(database, organization, 2)
    await some_clicks(database, organization, 3)
    after = cursor_of((await person.get("/live")).text)
    async with Stream(service, person, organization.id, after) as stream:
        await put_back(database, organization.id, backup)
        await some_clicks(database, organization, 40)
        await until(lambda: "40.example" in stream.text, "the click")


async def test_who_else_asks_for_the_stream(
    person: Person, stranger: Person, organization: TestOrganization, make_organization: OrganizationFactory
) -> None:
    """Who is no script, or acts for another organization by now, is led to the page."""
    other = await make_organization()
    for query, headers in (
        (f"organization={organization.id}&after=1.0", {}),
        (f"organization={other.id}", STREAM),
    ):
        answer = await person.client.get(f"/live/stream?{query}", headers=headers)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/live")
    address = f"/live/stream?organization={organization.id}"
    assert (await person.client.get(address, headers=STREAM)).status_code == 400
    answer = await person.client.head(f"{address}&after=1.0", headers=STREAM)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/event-stream")


@dataclass(frozen=True, slots=True)
class Shop:
    """A running service, with a user at its dashboard and a link to click."""

    office: Office
    domain: str

    def click(self, referrer: str) -> None:
        """Click the link, from this site."""
        headers = {
            "Host": self.domain,
            "Referer": f"https://{referrer}/",
            "User-Agent": "Mozilla/5.0 (iPhone)",
        }
        assert httpx.get(f"{self.office.base_url}/a", headers=headers, timeout=60).status_code == 302


@pytest.fixture
def shop(running: ServiceProcess) -> Shop:
    """An organization of this test's own."""
    org = make_organization(running, "Acme")
    domain = f"go.{uuid.uuid4().hex[:8]}.localhost"
    running.command("domain", "add", domain, "--org", org)
    headers = {"API-KEY": make_key(running, org, "rest")}
    body = {"domain": domain, "selected_path": "a", "destination_url": "https://a.example", "link_name": "A"}
    address = f"{running.base_url}/serviceCore/pa/v1/create-link"
    httpx.post(address, json=body, headers=headers, timeout=60).raise_for_status()
    return Shop(Office(running.base_url, make_user(running, org), {}), domain)


def test_in_a_browser(page: Page, shop: Shop) -> None:
    """What happens appears by itself, is counted for who listens, waits while it is paused, and is caught up
    with afterwards; also when the service could not be reached."""
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.clock.install()
    shop.office.open_session(page)
    page.goto(f"{shop.office.base_url}/live?type=click")
    state = page.locator("[data-feed-state]")
    expect(state).to_have_text("Live")
    expect(page.get_by_text("Nothing yet.")).to_be_visible()
    expect(page.get_by_role("link", name="Load again")).to_be_hidden()
    shown = page.locator("[data-feed] tbody tr")
    shop.click("one.example")
    expect(shown).to_have_count(1, timeout=20_000)
    expect(shown.first).to_contain_text("from one.example")
    expect(shown.first.get_by_role("link")).to_have_text("A")
    expect(page.get_by_text("Nothing yet.")).to_be_hidden()
    page.clock.run_for(11_000)
    expect(page.locator("[data-announce]")).to_have_text("1 new event")
    page.get_by_role("button", name="Pause").click()
    expect(state).to_have_text("Paused")
    shop.click("two.example")
    shop.click("three.example")
    page.get_by_role("button", name="Go on").click()
    expect(shown).to_have_count(3, timeout=20_000)
    expect(shown.first).to_contain_text("from three.example")
    page.route("**/live/stream*", lambda route: route.fulfill(status=503))
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Go on").click()
    expect(state).to_have_text("Connecting again")
    shop.click("four.example")
    page.unroute_all()
    page.clock.run_for(40_000)
    expect(shown).to_have_count(4, timeout=20_000)
    assert problems == []


def test_an_ended_session(page: Page, shop: Shop) -> None:
    """Who was signed out elsewhere is led to the sign-in page when the stream ends."""
    shop.office.open_session(page)
    page.goto(f"{shop.office.base_url}/live")
    expect(page.locator("[data-feed-state]")).to_have_text("Live")
    page.context.clear_cookies()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Go on").click()
    page.wait_for_url("**/sign-in**")


@pytest.fixture
def without_scripts(browser: Browser) -> Iterator[Page]:
    """A page of a browser that runs no scripts."""
    with browser.new_context(java_script_enabled=False) as context:
        yield context.new_page()


def test_without_scripts(without_scripts: Page, shop: Shop) -> None:
    """The latest events are there, of the types that are ticked, and a link loads them again."""
    page = without_scripts
    shop.office.open_session(page)
    page.goto(f"{shop.office.base_url}/live?type=click")
    expect(page.get_by_text("Nothing yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    shop.click("one.example")
    with shop.office.client() as client:
        wait_for(lambda: "one.example" in client.get("/live").text, "the click to be told", bool)
    page.get_by_role("link", name="Load again").click()
    expect(page.locator("[data-feed] tbody tr")).to_contain_text("from one.example")
    page.locator(".live-types summary").click()
    page.get_by_label("Clicks").uncheck()
    page.get_by_label("Links made").check()
    page.get_by_role("button", name="Show these").click()
    expect(page.locator("[data-feed] tbody tr")).to_contain_text("Link made")
