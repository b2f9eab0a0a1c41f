"""What a server tells of a sale or a lead counts, whatever browsers told of it and whenever it comes."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations
from typing import Any

import httpx
import pytest

from backend.domain.feed.events import EventType
from backend.domain.ids import CustomerId
from backend.storage.driver.mongo import Database
from backend.storage.sales.customer_history import find_customer_history
from backend.system.clock import utc_now
from tests.api.told_sales import API, tell
from tests.conftest import OrganizationFactory
from tests.facts.feeds import read_all
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion, timestamp

ORDER = "order-2000"
STRANGER = {
    "transaction_id": ORDER,
    "revenue": 0,
    "currency": "JPY",
    "product_id": "junk",
    "customer_id": "me",
}
SERVER = {
    "transaction_id": ORDER, "revenue": 49.90, "currency": "EUR", "customer_id": "ada", "metadata": {"n": 1},
}  # fmt: skip
REFUND = {"refund_id": "r1", "transaction_id": ORDER, "amount": 9.90, "currency": "EUR"}


async def told_to(client: httpx.AsyncClient, organization: TestOrganization, who: str) -> None:
    """Tell the order as somebody does, and a refund until it is taken."""
    if who == "server":
        await tell(client, organization, "conversions", SERVER)
    elif who == "refund":
        await client.post(f"{API}/conversions/refund", json={"items": [REFUND]}, headers=organization.headers)
    else:
        await Visitor(client, organization).result(conversion(**STRANGER))


async def explained(
    client: httpx.AsyncClient, organization: TestOrganization, **asked: str
) -> tuple[str | None, ...]:
    """Whose the order is by its explanation, and its amounts."""
    path = f"{API}/conversions/{ORDER}/explain"
    answer = (await client.get(path, params=asked, headers=organization.headers)).json()
    share = [answer["shares"][0][name] for name in ("revenue", "refunds")] if answer["shares"] else []
    names = ("customer_id", "currency", "revenue", "refunds", "net_revenue")
    return *(answer[name] for name in names), *share


async def reported(client: httpx.AsyncClient, organization: TestOrganization, **asked: str) -> Any:
    """The amounts of a report of everything."""
    query = {
        "measures": ["conversions", "revenue", "refunds", "net_revenue"],
        "period": "last_7_days",
        **asked,
    }
    answer = await client.post(f"{API}/analytics/query", json=query, headers=organization.headers)
    assert answer.status_code == 200, answer.text
    return {name: value for name, value in answer.json()["totals"].items() if name != "previous"}


async def test_a_server_s_amount_counts_in_whatever_order_it_comes(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, database: Database
) -> None:
    """In reports, explanations, refunds, pages of customers and the last event of the feed; once."""
    for order in permutations(["server", "stranger", "stranger"]):
        organization = await make_organization()
        for who in (*order, "refund"):
            await told_to(client, organization, who)
        assert await explained(client, organization) == (
            "ada", "EUR", "49.90", "9.90", "40.00", "49.90", "9.90",
        )  # fmt: skip
        amounts = await reported(client, organization)
        assert amounts["conversions"] == 1
        assert amounts["revenue"] == [{"currency": "EUR", "amount": "49.90"}]
        assert amounts["refunds"] == [{"currency": "EUR", "amount": "9.90"}]
        history = await find_customer_history(database, organization.id, CustomerId("ada"), utc_now())
        assert history
        assert {name: str(amount) for name, amount in history.revenue.items()} == {"EUR": "40.00"}
        *_, last = await read_all(database, organization.id, [EventType.CONVERSION])
        told = {name: last.data[name] for name in ("revenue", "currency", "customer_id", "metadata")}
        assert told == {"revenue": "49.90", "currency": "EUR", "customer_id": "ada", "metadata": {"n": 1}}


async def test_the_past_is_as_it_was_told_then(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """As of a moment before the server told, the amount is the browser's; the feed has a correction."""
    await told_to(client, organization, "stranger")
    moment = timestamp()
    await told_to(client, organization, "server")
    assert (await reported(client, organization, as_of=moment))["revenue"] == [
        {"currency": "JPY", "amount": "0"}
    ]
    before = await explained(client, organization, as_of=moment)
    assert before == ("me", "JPY", "0", "0", "0", "0", "0")


async def test_an_explanation_counts_the_refunds_that_figures_count(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """As of a moment those known then, and none of another currency, which it names beside the amount."""
    await told_to(client, organization, "stranger")
    yen = {"transaction_id": "order-2001", "revenue": 900, "currency": "JPY"}
    await Visitor(client, organization).result(conversion(**yen))
    paid_back = REFUND | {"transaction_id": "order-2001", "amount": 300, "currency": "JPY"}
    (taken,) = await tell_listed(client, organization, paid_back)
    assert taken["status"] == "accepted"
    await tell(client, organization, "conversions", SERVER | {"transaction_id": "order-2001"})
    moment = timestamp()
    await tell_listed(client, organization, REFUND | {"transaction_id": "order-2001", "refund_id": "r2"})
    for asked, refunds, net in (({"as_of": moment}, "0.00", "49.90"), ({}, "9.90", "40.00")):
        answer = await client.get(
            f"{API}/conversions/order-2001/explain", params=asked, headers=organization.headers
        )
        told = answer.json()
        assert (told["refunds"], told["net_revenue"]) == (refunds, net)
        assert (told["shares"][0]["refunds"], told["shares"][0]["net_revenue"]) == (refunds, net)
        assert [step["refund"] for step in told["steps"] if step["refund"]] == [
            {"refund_id": "r1", "amount": "300", "currency": "JPY"},
            {"refund_id": "r2", "amount": "9.90", "currency": "EUR"},
        ]


async def test_many_browsers_do_not_keep_a_server_s_telling_out(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """However many told of the sale before."""
    for _ in range(25):
        await told_to(client, organization, "stranger")
    await told_to(client, organization, "server")
    assert (await explained(client, organization))[:3] == ("ada", "EUR", "49.90")


async def test_a_refund_that_a_browser_s_word_refused_is_taken_once_the_server_told(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """The refusal says how to mend it, and what was told of the sale afterwards mends it."""
    await told_to(client, organization, "stranger")
    (refused,) = await tell_listed(client, organization, REFUND)
    assert "tell the sale from your server first" in refused["error"]["error"]["errorMessage"]
    await told_to(client, organization, "server")
    (taken,) = await tell_listed(client, organization, REFUND)
    assert taken["status"] == "accepted"


async def tell_listed(
    client: httpx.AsyncClient, organization: TestOrganization, *refunds: dict[str, Any]
) -> list[dict[str, Any]]:
    """The results of a list of refunds."""
    url = f"{API}/conversions/refund"
    answer = await client.post(url, json={"items": refunds}, headers=organization.headers)
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


@pytest.mark.parametrize("is_server_first", [True, False])
async def test_a_lead_is_as_the_server_tells_it(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, *, is_server_first: bool
) -> None:
    """A browser's name and address neither stand before the server's, nor become its customer's."""
    stranger = call("lead", event_id="signup-7", name="Nobody", email_sha256="a" * 64)
    server = {"event_id": "signup-7", "customer_id": "ada", "name": "Ada", "email_sha256": "b" * 64}
    if is_server_first:
        await tell(client, organization, "leads", server)
    await Visitor(client, organization).result(stranger)
    if not is_server_first:
        await tell(client, organization, "leads", server)
    *_, last = await read_all(database, organization.id, [EventType.LEAD])
    assert (last.data["name"], last.data["email_sha256"]) == ("Ada", "b" * 64)
    contacts = [contact async for contact in database["contacts"].find({"org_id": organization.id})]
    assert {email for contact in contacts for email in contact.get("emails_sha256", [])} == {"b" * 64}


async def test_an_address_that_a_browser_tells_takes_no_credit(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """A stranger with the address of a customer gets nothing of the customer's sales, and gives nothing."""
    address: dict[str, Any] = {"email_sha256": "a" * 64}
    stranger = Visitor(client, organization)
    landing = check(ago=timedelta(minutes=5), utm_source="stranger")
    await stranger.results(landing, call("identify", customer_id="me", **address))
    await tell(client, organization, "identities", {"customer_id": "ada", **address})
    await tell(client, organization, "conversions", SERVER)
    path = f"{API}/conversions/{ORDER}/explain"
    answer = await client.get(path, params={"credit": "customer"}, headers=organization.headers)
    assert answer.json()["customer_id"] == "ada"
    assert [share["touch"] for share in answer.json()["shares"]] == [None]
