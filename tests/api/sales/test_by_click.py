"""What servers tell by the id of a click: credited to that click, whoever else is known or tells it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from backend.domain.ids import CustomerId
from backend.domain.visitors.persons import Subject
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import erase_subject
from tests.api.sales.test_names_click import follow
from tests.api.told_sales import API, SALE, stored, tell
from tests.api.whole_links import Links
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.sdk_batches import Visitor, check, conversion
from tests.polling import wait_for_async

VARIANTS = [{"name": name, "weight": 1, "destination_url": f"https://{name}.example/"} for name in "ab"]


async def clicked(
    client: httpx.AsyncClient, organization: TestOrganization, host: str = "news.example", **fields: Any
) -> dict[str, Any]:
    """The signals of a click on a new link, from a page of this host."""
    made = await Links(client, organization).make(**fields)
    return await follow(client, made["short_url"], f"https://{host}/")


async def explain(
    client: httpx.AsyncClient, organization: TestOrganization, order: str = "order-1", **rules: str
) -> Any:
    """Why this order is whose."""
    url = f"{API}/conversions/{order}/explain"
    return (await client.get(url, params=rules, headers=organization.headers)).json()


def touched(answer: Any) -> list[str | None]:
    """The links that get the credit."""
    return [share["touch"] and share["touch"]["link_id"] for share in answer["shares"]]


async def test_a_click_id_alone_earns_the_sale(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """At once, before the click is stored; then the sale names it with its referrer, time and variant."""
    signals = await clicked(client, organization, rules=[{"if": {}, "then": {"split": VARIANTS}}])
    variant = signals["cl_variant"]
    (result,) = await tell(client, organization, "conversions", SALE | {"click_id": signals["cl_click_id"]})
    assert result.keys() == {"status", "id"}
    answer = await explain(client, organization)
    assert (answer["device_id"], answer["customer_id"]) == (None, None)
    assert [step["kind"] for step in answer["steps"]] == ["touch", "sale"]
    (share,) = answer["shares"]
    assert (share["touch"]["link_id"], share["touch"]["variant"]) == (signals["cl_link_id"], variant)

    async def click() -> Any:
        (share,) = (await explain(client, organization))["shares"]
        return share["touch"]["click"]

    told = await wait_for_async(click, "the click is stored")
    assert (told["referrer_host"], told["variant"]) == ("news.example", variant)
    assert told["at"] == share["touch"]["at"]
    query = {"measures": ["conversions", "revenue"], "group_by": ["link", "variant"], "currency": "EUR"}
    for model in ("last", "linear"):
        asked = query | {"model": model}
        answer = await client.post(f"{API}/analytics/query", json=asked, headers=organization.headers)
        (row,) = [row for row in answer.json()["rows"] if row["conversions"]]
        assert row["link"] == signals["cl_link_id"]
        assert (row["variant"], row["revenue"]) == (variant, "19.99")


async def test_forged_and_foreign_click_ids_are_refused(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Each item by itself, by the name of the field, and nothing of it is stored."""
    other = await create_test_organization(database)
    own = (await clicked(client, organization))["cl_click_id"]
    foreign = (await clicked(client, other))["cl_click_id"]
    wrong = [
        foreign,
        "A" * 32,
        f"{own[:-1]}{'A' if own[-1] != 'A' else 'B'}",
        own[:-1],
        "x",
        "é" * 32,
        7,
        [own],
    ]
    items = [{"name": "e", "click_id": click_id} for click_id in (*wrong, own)]
    results = await tell(client, organization, "events", *items)
    assert [result["status"] for result in results] == ["rejected"] * len(wrong) + ["accepted"]
    rule = "click_id must be a cl_click_id that one of your links gave a visitor"
    errors = [result["error"]["error"]["errorMessage"] for result in results[:-1]]
    assert errors == [*[rule] * 6, *["click_id must be a string"] * 2]
    assert len(await stored(database, organization, "events")) == 1


@pytest.mark.parametrize("is_browser_first", [True, False])
async def test_an_order_of_a_device_keeps_the_click_that_the_server_names(
    client: httpx.AsyncClient, organization: TestOrganization, is_browser_first: bool
) -> None:
    """Whichever tells it first; where the browser told of the same click, it is one visit."""
    early = await clicked(client, organization)
    late = await clicked(client, organization)
    visitor = Visitor(client, organization)
    webhook = SALE | {"click_id": early["cl_click_id"]}
    if is_browser_first:
        await visitor.results(check(**late), conversion(**SALE))
        await tell(client, organization, "conversions", webhook)
    else:
        await tell(client, organization, "conversions", webhook)
        await visitor.results(check(**late), conversion(**SALE))
    await tell(client, organization, "conversions", SALE | {"click_id": late["cl_click_id"]})
    answer = await explain(client, organization, model="linear")
    assert touched(answer) == [early["cl_link_id"], late["cl_link_id"]]
    assert answer["device_id"] == visitor.device_id
    assert [step["kind"] for step in answer["steps"]].count("touch") == 2


async def test_a_click_of_a_known_device_is_its_visit(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """So later sales of the device have it too; told again it is still one."""
    signals = await clicked(client, organization)
    visitor = Visitor(client, organization)
    event = {"name": "seen", "device_id": visitor.device_id, "click_id": signals["cl_click_id"]}
    await tell(client, organization, "events", event, event)
    (device,) = await stored(database, organization, "devices")
    assert len(device["touches"]) == 1
    await visitor.result(conversion(**SALE))
    answer = await explain(client, organization, model="linear")
    assert touched(answer) == [signals["cl_link_id"]]


@pytest.mark.parametrize("path", ["identities", "leads"])
async def test_a_click_of_a_known_customer_is_the_customer_s(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, path: str
) -> None:
    """A later order of the customer is credited to it by customer, and an erasure takes it along."""
    signals = await clicked(client, organization)
    item = {"customer_id": "ada", "click_id": signals["cl_click_id"]}
    results = await tell(client, organization, path, item, item)
    assert [result["status"] for result in results] == ["accepted"] * 2
    await tell(client, organization, "conversions", SALE | {"customer_id": "ada"})
    again = SALE | item | {"transaction_id": "order-2"}
    await tell(client, organization, "conversions", again)
    assert touched(await explain(client, organization)) == [None]
    for order in ("order-1", "order-2"):
        answer = await explain(client, organization, order, credit="customer", model="linear")
        assert touched(answer) == [signals["cl_link_id"]]
        assert [step["kind"] for step in answer["steps"]].count("touch") == 1
    await erase_subject(database, organization.id, Subject(customer_id=CustomerId("ada")))
    for name in ("devices", "contacts", "leads", "conversions"):
        assert await stored(database, organization, name) == []


async def test_a_click_after_the_sale_gets_nothing(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """The sale is kept, and a note says so."""
    signals = await clicked(client, organization)
    before = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    item = SALE | {"click_id": signals["cl_click_id"], "occurred_at": before}
    (result,) = await tell(client, organization, "conversions", item)
    assert result["notes"] == ["click_id names a click after occurred_at, which gets no credit"]
    assert touched(await explain(client, organization)) == [None]
