"""POST /conversions, /leads, /events and /identities: what servers tell, beside what browsers do."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from backend.domain.visitors.persons import Subject
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.lifecycle.retention import set_retention
from backend.storage.visitors.rejections import list_rejections
from tests.api.told_sales import API, SALE, stored, tell
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.sdk_batches import Visitor, check, conversion


async def test_what_is_told_is_stored(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A sale, a lead, an event and a customer: each with its fields, its time and an id."""
    long_ago = datetime.now(UTC).replace(microsecond=0) - timedelta(days=365)
    sale = SALE | {"customer_id": "ada", "occurred_at": long_ago.isoformat(), "metadata": {"invoice": 7.5}}
    results = [
        *(await tell(client, organization, "conversions", sale)),
        *(await tell(client, organization, "leads", {"customer_id": "ada", "event_id": "l", "name": "Ada"})),
        *(await tell(client, organization, "events", {"customer_id": "ada", "name": "shipped"})),
        *(await tell(client, organization, "identities", {"customer_id": "ada", "email_sha256": "ab" * 32})),
    ]
    assert [result["status"] for result in results] == ["accepted"] * 4
    (conversion,) = await stored(database, organization, "conversions")
    assert conversion["_id"] == f"{organization.id}/{results[0]['id']}"
    assert (conversion["at"], conversion["customer_id"]) == (long_ago, "ada")
    assert (str(conversion["revenue"]), conversion["metadata"]) == ("19.99", {"invoice": 7.5})
    (event,) = await stored(database, organization, "events")
    assert (event["name"], event["device_id"]) == ("shipped", None)
    (identity,) = await stored(database, organization, "contacts")
    assert (identity["name"], identity["emails_sha256"]) == ("Ada", ["ab" * 32])


@pytest.mark.parametrize("is_browser_first", [True, False])
async def test_a_sale_told_by_browser_and_server_counts_once(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, is_browser_first: bool
) -> None:
    """The thank-you page and the webhook of one order: one sale of the page's device and visit, with the
    webhook's customer, whichever comes first."""
    visitor = Visitor(client, organization)
    await visitor.result(check(ago=timedelta(minutes=2), utm_source="mail"))
    page, webhook = conversion(**SALE, ago=timedelta(minutes=1)), SALE | {"customer_id": "ada"}
    if is_browser_first:
        first, (second,) = (
            await visitor.result(page),
            await tell(client, organization, "conversions", webhook),
        )
    else:
        (first,), second = (
            await tell(client, organization, "conversions", webhook),
            await visitor.result(page),
        )
    assert (first["status"], second["status"]) == ("accepted", "duplicate")
    (sale,) = await stored(database, organization, "conversions")
    assert (sale["device_id"], sale["customer_id"]) == (visitor.device_id, "ada")
    assert sale["touch"]["utm"] == {"utm_source": "mail"}
    assert sale["at"] < datetime.now(UTC) - timedelta(seconds=50)


async def test_one_bad_item_does_not_sink_the_others(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Each item has its own result; a refusal names its field in shape A, and the owner is told of it."""
    good = SALE | {"customer_id": "ada"}
    items = [good, 7, good | {"revenue": "much"}, good | {"transaction": "t"}, SALE, good | {"revenue": 20}]
    results = await tell(client, organization, "conversions", *items)
    assert [result["status"] for result in results] == ["accepted", *["rejected"] * 4, "duplicate"]
    errors = [result["error"]["error"]["errorMessage"] for result in results[1:5]]
    assert errors == [
        "items must hold JSON objects",
        'revenue must be a number, in major units, or plain text such as 59.90, not "much"',
        "transaction is not a field of such an item",
        "customer_id must be given, or device_id or click_id",
    ]
    assert {result["error"]["code"] for result in results[1:5]} == {101}
    assert results[5]["id"] == results[0]["id"]
    assert results[5]["notes"] == ["revenue differs from what counts, which another telling of a server said"]
    rejections = [entry.rejection for entry in await list_rejections(database, organization.id)]
    assert sorted((rejection.kind, rejection.field) for rejection in rejections) == [
        ("conversion", "a field"),
        ("conversion", "customer_id"),
        ("conversion", "items"),
        ("conversion", "revenue"),
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"items": []}, "items must be a list of 1 to 1,000 items"),
        ({"items": [{}] * 1001}, "items must be a list of 1 to 1,000 items"),
        ({"items": {}}, "items must be a list of 1 to 1,000 items"),
        ({"items": [SALE], "currency": "EUR"}, "currency must stand in an item, beside items"),
        ([SALE], "Request body must be a JSON object"),
    ],
)
async def test_a_body_that_is_no_list_of_items_is_refused(
    client: httpx.AsyncClient, organization: TestOrganization, body: object, message: str
) -> None:
    """400 for the request as a whole, with a sentence that says what a body is."""
    answer = await client.post(f"{API}/conversions", json=body, headers=organization.headers)
    assert (answer.status_code, answer.json()["error"]["errorMessage"]) == (400, message)


async def test_many_at_once_cost_a_request_for_every_25(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A thousand events are stored together, and take forty from the key's limit."""
    device = str(uuid.uuid4())
    items = [{"device_id": device, "name": f"e{number}"} for number in range(1000)]
    before = await client.get(f"{API}/links", headers=organization.headers)
    answer = await client.post(f"{API}/events", json={"items": items}, headers=organization.headers)
    assert {result["status"] for result in answer.json()["results"]} == {"accepted"}
    assert len(await stored(database, organization, "events")) == 1000
    left = [int(response.headers["RateLimit-Remaining"]) for response in (before, answer)]
    assert left[0] - left[1] == 40


async def test_a_call_id_makes_anything_safe_to_repeat(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """An event that is told again with its call_id counts once."""
    event = {"customer_id": "ada", "name": "shipped", "call_id": str(uuid.uuid4())}
    results = [await tell(client, organization, "events", event) for _ in range(2)]
    assert [result[0]["status"] for result in results] == ["accepted", "duplicate"]
    assert {result[0]["id"] for result in results} == {event["call_id"]}
    assert len(await stored(database, organization, "events")) == 1


async def test_what_is_told_of_a_customer_is_erased(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """By the customer's e-mail address, without a device; told again, the order does not come back."""
    await tell(client, organization, "identities", {"customer_id": "ada", "email_sha256": "ab" * 32})
    await tell(client, organization, "conversions", SALE | {"customer_id": "ada"})
    await tell(
        client, organization, "conversions", SALE | {"customer_id": "bob", "transaction_id": "order-2"}
    )
    erased = await erase_subject(database, organization.id, Subject(email_sha256="ab" * 32))
    assert (erased["conversions"], erased["contacts"]) == (1, 1)
    assert [sale["customer_id"] for sale in await stored(database, organization, "conversions")] == ["bob"]
    (again,) = await tell(client, organization, "conversions", SALE | {"customer_id": "ada"})
    assert again["status"] == "duplicate"
    assert len(await stored(database, organization, "conversions")) == 1


async def test_retention_holds_for_what_is_told(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """What is older than the organization keeps is refused; the rest is dated from when it happened."""
    await set_retention(database, organization.id, 30)
    now = datetime.now(UTC).replace(microsecond=0)
    items = [
        SALE | {"customer_id": "ada", "occurred_at": (now - timedelta(days=days)).isoformat()}
        for days in (31, 29)
    ]
    old, new = await tell(client, organization, "conversions", *items)
    assert "less than 30 days ago" in old["error"]["error"]["errorMessage"]
    assert new["status"] == "accepted"
    (sale,) = await stored(database, organization, "conversions")
    assert sale["expires_at"] == now + timedelta(days=1)
    (identity,) = await stored(database, organization, "contacts")
    assert identity["expires_at"] > sale["expires_at"]


async def test_a_server_of_another_organization_tells_another_sale(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """The same order of another organization is another one."""
    other = await create_test_organization(database)
    for owner in (organization, other):
        (result,) = await tell(client, owner, "conversions", SALE | {"customer_id": "ada"})
        assert result["status"] == "accepted"
        assert len(await stored(database, owner, "conversions")) == 1


async def test_an_id_is_the_same_however_it_is_written(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Blanks around it and control characters in it belong to no id: it is found without them, and with."""
    (sale,) = await tell(
        client, organization, "conversions", SALE | {"transaction_id": " or\tder-1\n", "customer_id": "c\n"}
    )
    assert sale["notes"] == ["control characters in transaction_id were removed"]
    (again,) = await tell(client, organization, "conversions", SALE | {"customer_id": "c"})
    assert again["status"] == "duplicate"
    refund = {"refund_id": "r\x00-1", "transaction_id": "order-1\u3000", "amount": 1, "currency": " eur"}
    (refunded,) = await tell(client, organization, "conversions/refund", refund)
    assert (refunded["status"], refunded["notes"]) == (
        "accepted",
        ["control characters in refund_id were removed"],
    )
    for written in ("order-1", "%20order-1%09"):
        url = f"{API}/conversions/{written}/explain"
        answer = (await client.get(url, headers=organization.headers)).json()
        assert (answer["transaction_id"], answer["refunds"]) == ("order-1", "1.00")
