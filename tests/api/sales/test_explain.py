"""GET /conversions/{transaction_id}/explain: why a sale is whose."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from backend.domain.sales.explanation import Explanation, explain
from backend.storage.driver.mongo import Database
from backend.storage.sales import sale_explanation as explained_sales
from tests.api.link_calls import create, info
from tests.api.told_sales import API, SALE, tell
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.sdk_batches import Visitor, call, check, conversion

HOUR = timedelta(hours=1)


async def explained(
    client: httpx.AsyncClient, organization: TestOrganization, order: str, **rules: str
) -> httpx.Response:
    """What the service says of an order."""
    path = f"{API}/conversions/{quote(order, safe='')}/explain"
    return await client.get(path, params=rules, headers=organization.headers)


async def test_a_click_on_the_phone_explains_a_sale_on_the_laptop(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """By customer it gets all of it, by device nobody does, and each answer says what the other does."""
    short_url = await create(client, organization, link_name="Spring")
    link = await info(client, organization, short_url)
    phone, laptop = Visitor(client, organization), Visitor(client, organization)
    await phone.results(
        check(ago=3 * HOUR, cl_link_id=link["id"]), call("identify", ago=2 * HOUR, customer_id="ada")
    )
    await laptop.result(conversion(**SALE, ago=HOUR))
    await tell(client, organization, "conversions", SALE | {"customer_id": "ada"})
    refund = {"refund_id": "r", "transaction_id": "order-1", "amount": 5, "currency": "EUR"}
    await tell(client, organization, "conversions/refund", refund)
    sale = (await explained(client, organization, "order-1", credit="customer")).json()
    assert (sale["customer_id"], sale["revenue"], sale["net_revenue"]) == ("ada", "19.99", "14.99")
    assert [step["kind"] for step in sale["steps"]] == ["touch", "identity", "identity", "sale", "refund"]
    landing = sale["steps"][0]
    assert landing["in_words"] == "It gets all of the sale."
    assert (landing["touch"]["short_url"], landing["touch"]["link_name"]) == (short_url, "Spring")
    assert landing["share"] == {"part": 1.0, "revenue": "19.99", "refunds": "5.00", "net_revenue": "14.99"}
    by_device: dict[str, Any] = (await explained(client, organization, "order-1")).json()
    assert by_device["rules"]["model"] == "last_non_direct"
    assert [share["touch"] for share in by_device["shares"]] == [None]
    others = {
        (other["rules"]["credit"], other["rules"]["model"]): other["shares"] for other in by_device["others"]
    }
    (first,) = others["customer", "first"]
    assert (first["touch"]["link_id"], first["revenue"]) == (link["id"], "19.99")


async def test_an_order_s_name_may_be_anything(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Also with slashes, spaces and letters of all kinds."""
    order = "2026/03 №7?"
    await tell(client, organization, "conversions", SALE | {"transaction_id": order, "customer_id": "ada"})
    assert (await explained(client, organization, order)).json()["transaction_id"] == order


async def test_unknown_orders_are_not_found(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Nor is another organization's."""
    other = await create_test_organization(database)
    await tell(client, other, "conversions", SALE | {"customer_id": "ada"})
    answer = await explained(client, organization, "order-1")
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (404, "TRANSACTION_NOT_FOUND")


@pytest.mark.parametrize(
    ("name", "value"), [("model", "best"), ("credit", "me"), ("lookback_days", "0"), ("window", "3")]
)
async def test_bad_rules_are_refused(
    client: httpx.AsyncClient, organization: TestOrganization, name: str, value: str
) -> None:
    """By the name of the parameter."""
    answer = await explained(client, organization, "order-1", **{name: value})
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, name)


async def test_a_customer_of_many_devices_holds_nobody_up(
    client: httpx.AsyncClient, organization: TestOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is worked out of a hundred devices' visits is worked out beside the loop that serves requests."""
    threads: list[str] = []

    def explain_here(*given: Any) -> Explanation:
        threads.append(threading.current_thread().name)
        return explain(*given)

    monkeypatch.setattr(explained_sales, "explain", explain_here)
    await tell(client, organization, "conversions", SALE | {"customer_id": "ada"})
    assert (await explained(client, organization, "order-1")).status_code == 200
    assert threads == ["long_0"]
