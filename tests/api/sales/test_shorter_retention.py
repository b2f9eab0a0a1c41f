"""What a shorter retention ends is not there from then on, though MongoDB deletes it later."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx

from backend.storage.accounts.organizations import set_retention_days
from backend.storage.driver.mongo import Database
from tests.api.told_sales import API, SALE, stored, tell
from tests.conftest import MovableClock
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

DAYS = 40


async def tell_long_ago(
    client: httpx.AsyncClient, organization: TestOrganization, clock: MovableClock
) -> None:
    """Somebody came by a campaign, was identified and bought, forty days ago; and bought again just now."""
    clock.offset = -timedelta(days=DAYS)
    visitor = Visitor(client, organization)
    await visitor.results(
        check(utm_campaign="spring"), call("identify", customer_id="ada"), conversion(**SALE)
    )
    clock.offset = timedelta()
    later = SALE | {"transaction_id": "order-2", "customer_id": "ada"}
    await tell(client, organization, "conversions", later)


async def test_explanations_and_refunds(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, clock: MovableClock
) -> None:
    """A sale of before can't be explained, and gets no refund, like one that has been deleted; nor does what
    its device did count for a sale that is kept."""
    await tell_long_ago(client, organization, clock)
    await tell(client, organization, "conversions", SALE | {"transaction_id": "gone", "customer_id": "bob"})
    await database["conversions"].delete_one({"org_id": organization.id, "transaction_id": "gone"})
    explanation = await explained(client, organization, "order-2")
    assert {step["kind"] for step in explanation.json()["steps"]} >= {"touch", "sale"}

    await set_retention_days(database, organization.id, DAYS - 10)
    assert (await explained(client, organization, "order-1")).status_code == 404
    explanation = await explained(client, organization, "order-2")
    assert [step["kind"] for step in explanation.json()["steps"]] == ["sale"]
    refund: dict[str, Any] = {"amount": 5, "currency": "EUR"}
    results = await tell(
        client,
        organization,
        "conversions/refund",
        *(
            refund | {"refund_id": f"r-{id_}", "transaction_id": id_}
            for id_ in ("order-1", "gone", "order-2")
        ),
    )
    expired, deleted, kept = results
    assert expired == deleted
    assert (deleted["status"], kept["status"]) == ("rejected", "accepted")
    sales = {sale["transaction_id"]: sale for sale in await stored(database, organization, "conversions")}
    assert "refunds" not in sales["order-1"]


async def explained(client: httpx.AsyncClient, organization: TestOrganization, order: str) -> httpx.Response:
    """The explanation of an order by all devices of its customer."""
    url = f"{API}/conversions/{order}/explain"
    return await client.get(url, params={"credit": "customer"}, headers=organization.headers)
