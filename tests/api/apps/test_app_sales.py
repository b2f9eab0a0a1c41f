"""POST /serviceCore/sdk/v1/batch with a mobile key: what apps tell of their installations."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from backend.domain.fields.install_ids import install_id_of
from backend.domain.ids import CustomerId, DeviceId
from backend.domain.visitors.persons import Subject
from backend.storage.accounts.organizations import set_erases_on_withdrawal
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import erase_subject, export_subject
from tests.api.apps.test_counted_opens import App
from tests.api.link_calls import create, info
from tests.api.told_sales import tell
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import BATCH, Visitor, call, check, conversion, timestamp


@pytest.fixture
def app(client: httpx.AsyncClient, organization: TestOrganization) -> App:
    """An installation of this test's organization. Its id is in capital letters, as iOS writes it."""
    app = App(client, organization)
    app.install_id = app.install_id.upper()
    return app


async def send(app: App, *calls: Any, **changes: Any) -> httpx.Response:
    """The answer to a batch of the app."""
    body = {
        "api_key": app.organization.mobile_key,
        "install_id": app.install_id,
        "sdk": "app/test",
        "sent_at": timestamp(),
        "calls": list(calls),
    }
    return await app.client.post(BATCH, json={**body, **changes})


async def link_of(app: App, **fields: Any) -> str:
    """The id of a new link."""
    short_url = await create(app.client, app.organization, **fields)
    return str((await info(app.client, app.organization, short_url))["id"])


async def test_a_person_in_an_app_and_on_the_web(app: App) -> None:
    """One customer; the open that led to the app's sale gets it, with the facts of its click."""
    page_link, app_link = [await link_of(app, utm_campaign=name) for name in ("page", "app")]
    laptop = Visitor(app.client, app.organization)
    await laptop.results(check(cl_link_id=page_link), call("identify", customer_id="ada"))
    await app.open(link_id=app_link)
    sale = conversion(transaction_id="t-1", customer_id="ada", revenue=20)
    told = await send(app, sale, call("event", name="rated"), call("lead", event_id="l-1"))
    assert [result["status"] for result in told.json()["results"]] == ["accepted"] * 3
    again = conversion(transaction_id="t-1", customer_id="ada", revenue=20)
    assert (await send(app, again)).json()["results"][0]["status"] == "duplicate"
    assert (await laptop.result(conversion(transaction_id="t-1")))["status"] == "duplicate"
    refund = {"refund_id": "r-1", "transaction_id": "t-1", "amount": 5, "currency": "EUR"}
    await app.asks("conversions/refund", **refund)
    measures = ("opens", "conversions", "leads", "events", "customers", "revenue", "net_revenue")
    of_app = {"opens": 1, "conversions": 1, "leads": 1, "events": 1, "customers": 1}
    [row] = [
        row
        for row in await app.figures(*measures, group_by=["campaign", "outcome"], currency="EUR")
        if row["conversions"]
    ]
    assert row == {"campaign": "app", "outcome": "app", **of_app, "revenue": "20.00", "net_revenue": "15.00"}
    shared = await app.figures("conversions", group_by=["campaign"], credit="customer", model="linear")
    halves = {row["campaign"]: row["conversions"] for row in shared}
    assert halves == {"app": 0.5, "page": 0.5}


async def test_an_install_s_link_is_a_touch(app: App) -> None:
    """Found by Play's referrer at the first launch, and kept once, however often that is told."""
    link_id = await link_of(app, utm_campaign="spring")
    for _ in range(2):
        await app.open(
            install_referrer=f"cl_link_id={link_id}", platform="android", is_first_launch=True, open_id=None
        )
    sale = {"transaction_id": "t-1", "revenue": 5, "currency": "EUR", "device_id": app.install_id}
    await tell(app.client, app.organization, "conversions", sale)
    [row] = await app.figures("conversions", "clicks", group_by=["campaign"])
    assert (row["campaign"], row["conversions"], row["clicks"]) == ("spring", 1, 0)


@pytest.mark.parametrize("by", ["customer", "install", "withdrawal"])
async def test_a_person_is_erased_with_the_app(app: App, database: Database, by: str) -> None:
    """With its opens' visits and the installation, by the customer's id, by the app's, and from the app."""
    org_id = app.organization.id
    await set_erases_on_withdrawal(database, org_id, is_on=True)
    await app.open(link_id=await link_of(app), is_first_launch=True)
    await send(app, conversion(customer_id="ada"))
    if by == "withdrawal":
        answer = await send(app, erase=True, calls=[])
        assert answer.json() == {"results": [], "erased": True}
    else:
        install = Subject(install_id=install_id_of(app.install_id))
        subject = install if by == "install" else Subject(customer_id=CustomerId("ada"))
        await erase_subject(database, org_id, subject)
    device_id = DeviceId(app.install_id.lower())
    left = [
        document
        for subject in (Subject(device_id=device_id), Subject(customer_id=CustomerId("ada")))
        async for document in export_subject(database, org_id, subject)
    ]
    assert left == []
    assert [row["opens"] for row in await app.figures("opens")] == [1]


async def test_who_an_app_is(app: App) -> None:
    """An app names its installation by a UUID, with a mobile key; a page can't."""
    for changes, status, field in (
        ({"install_id": "phone-1"}, 400, "install_id must be a UUID"),
        ({"install_id": None, "device_id": str(uuid.uuid4())}, 400, "install_id must be a UUID"),
        ({"api_key": app.organization.web_key}, 403, "Allowed Web Origin"),
        ({"api_key": app.organization.rest_key}, 401, "Invalid Api Key"),
    ):
        answer = await send(app, call("lead"), **changes)
        assert (answer.status_code, field in answer.text) == (status, True), answer.text
    answer = (await send(app, call("lead"), device_id="x")).json()
    assert answer["notes"] == ["device_id is unknown and was left out"]
