"""POST /serviceCore/app/v1/open by a link: a click of the link, and a visit of the installation."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.apps import AndroidApp, Apps
from backend.domain.feed.events import EventType
from backend.storage.accounts.apps import set_apps
from backend.storage.driver.mongo import Database
from tests.api.apps.test_open import OPEN, open_body
from tests.api.link_calls import API, create, info
from tests.conftest import MovableClock
from tests.facts.clicks import recorded_clicks
from tests.facts.feeds import read_all
from tests.facts.organizations import TestOrganization
from tests.redirector.answers.test_outcomes import PIXEL

GERMAN = "5.9.0.1"  # as the table from PyPI has it


class App:
    """An installation of an organization's app, and what is asked about it."""

    def __init__(self, client: httpx.AsyncClient, organization: TestOrganization) -> None:
        self.client = client
        self.organization = organization
        self.install_id = str(uuid.uuid4())

    async def open(self, **fields: Any) -> dict[str, Any]:
        """The answer to an open that is not the first, unless told otherwise."""
        usual = {"install_id": self.install_id, "is_first_launch": False, "open_id": str(uuid.uuid4())}
        body = {name: value for name, value in open_body(**usual | fields).items() if value is not None}
        answer = await self.client.post(OPEN, json=body, headers={"API-KEY": self.organization.mobile_key})
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    async def asks(self, path: str, **body: Any) -> Any:
        """What the REST API answers."""
        answer = await self.client.post(f"{API}/{path}", json=body, headers=self.organization.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def figures(self, *measures: str, **more: Any) -> list[dict[str, Any]]:
        """The rows of a query of these measures."""
        rows: list[dict[str, Any]] = (await self.asks("analytics/query", measures=measures, **more))["rows"]
        return rows


@pytest.fixture
async def app(service: Service, organization: TestOrganization) -> AsyncIterator[App]:
    """An installation of this test's organization, somewhere in Germany."""
    transport = httpx.ASGITransport(app=service, client=(GERMAN, 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        yield App(client, organization)


async def test_an_open_by_a_link_is_a_click(app: App, database: Database) -> None:
    """Once for each open_id, also at the same time, in every count, with what is known of it."""
    short_url = await create(app.client, app.organization)
    open_id = str(uuid.uuid4())
    answers = await asyncio.gather(*(app.open(short_url=short_url, open_id=open_id) for _ in range(5)))
    assert all(answer["is_counted"] for answer in answers)
    await app.open(short_url=short_url, open_id=open_id.upper(), install_id="a nother", platform="android")
    assert (await app.open(short_url=short_url, platform="android", install_id="not a uuid"))["is_counted"]
    counts = await app.asks("analytics", shortUrl=short_url)
    assert counts == {"clicks_last_30_days": 2, "clicks_last_7_days": 2, "total_clicks": 2}
    rows = await app.figures("opens", "clicks", "visitors", group_by=["outcome", "platform"])
    assert rows == [
        {"outcome": "app", "platform": platform, "opens": 1, "clicks": 1, "visitors": 1}
        for platform in ("android", "ios")
    ]
    first, _ = await recorded_clicks(database, app.organization.id)
    assert (first.system, first.browser, first.client_kind, first.country) == ("iOS", None, "app", "DE")
    assert GERMAN not in str(await database["click_blocks"].find({}).to_list(None))
    events = [event for event in await read_all(database, app.organization.id) if "counted" in event.data]
    assert [(event.type, event.data["short_url"]) for event in events] == [(EventType.OPEN, short_url)] * 2


async def test_an_app_without_a_network(app: App, clock: MovableClock, database: Database) -> None:
    """Opens are sent later, dated by the app's clock, however wrong that is."""
    short_url = await create(app.client, app.organization)
    now, wrong = clock(), timedelta(days=1000)
    for hours in (30, 2):
        await app.open(
            short_url=short_url,
            occurred_at=(now + wrong - timedelta(hours=hours)).isoformat(),
            sent_at=(now + wrong).isoformat(),
        )
    await app.open(short_url=short_url, occurred_at=(now - timedelta(hours=1)).isoformat())
    for unbelievable in (now - timedelta(days=300), datetime.max.replace(tzinfo=UTC)):
        await app.open(short_url=short_url, occurred_at=unbelievable.isoformat())
    clicks = await recorded_clicks(database, app.organization.id)
    hours_ago = [(now - click.at) / timedelta(hours=1) for click in clicks]
    assert hours_ago == pytest.approx([30, 2, 1, 0, 0], abs=0.01)
    assert clicks[0].visitor is None  # its day's key is not known any more
    launched_at, sent_at = (now + wrong - timedelta(hours=5)).isoformat(), (now + wrong).isoformat()
    await app.open(is_first_launch=True, occurred_at=launched_at, sent_at=sent_at)
    install = await database["installs"].find_one({"org_id": app.organization.id})
    assert install
    assert (now - install["at"]) / timedelta(hours=1) == pytest.approx(5, abs=0.01)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expired"),
        ({"starts_at": "2100-01-01T00:00:00Z"}, "not_started"),
        ({"password": "open sesame"}, None),
    ],
)
async def test_what_is_no_click(app: App, database: Database, change: dict[str, Any], reason: str) -> None:
    """It is recorded with the reason, but for opens by links that stay in the browser."""
    link = await info(app.client, app.organization, await create(app.client, app.organization))
    await app.client.patch(f"{API}/links/{link['id']}", json=change, headers=app.organization.headers)
    assert not (await app.open(link_id=link["id"]))["is_counted"]
    clicks = await recorded_clicks(database, app.organization.id)
    assert [(click.counted, click.reason) for click in clicks] == ([(False, reason)] if reason else [])


async def test_opens_that_are_not_counted(app: App, database: Database) -> None:
    """Without an id, without a link, and by the link that a store passed on."""
    link = await info(app.client, app.organization, await create(app.client, app.organization))
    for fields in (
        {"link_id": link["id"], "open_id": None},
        {},
        {"install_referrer": f"cl_link_id={link['id']}", "platform": "android", "is_first_launch": True},
    ):
        assert not (await app.open(**fields))["is_counted"]
    assert await recorded_clicks(database, app.organization.id) == []


async def test_a_tap_that_a_browser_asked_for(app: App, database: Database) -> None:
    """The redirect to an app is the click; the open that follows it names that click, and adds none."""
    await set_apps(database, app.organization.domain, app.organization.id, Apps(None, AndroidApp("com.shop")))
    short_url = await create(app.client, app.organization, android_behavior=2)
    answer = await app.client.get(short_url, headers={"user-agent": PIXEL})
    opened = answer.headers["location"].partition("#")[0].replace("intent://", "https://")
    assert not (await app.open(short_url=opened, platform="android"))["is_counted"]
    forged = f"{opened[:-4]}AAAA"
    assert (await app.open(short_url=forged, platform="android"))["is_counted"]
    device = await database["devices"].find_one({"device_id": app.install_id})
    assert device
    [of_redirect, of_open] = device["touches"]
    assert of_redirect["click_at"] < of_open["click_at"] == of_open["at"]
    app.install_id = str(uuid.uuid4())
    assert (await app.open(short_url=short_url, has_consent=False))["is_counted"]
    assert await database["devices"].find_one({"device_id": app.install_id}) is None
