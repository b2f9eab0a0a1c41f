"""What operations beside the contract's say of wrong fields: the names of all of them, and never in a 200."""

from __future__ import annotations

import json
import uuid
from typing import Any

import httpx
import pytest

from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, invalid, link_body, wrong
from tests.api.told_sales import SALE, stored
from tests.facts.organizations import TestOrganization

SOLD = SALE | {"customer_id": "ada"}
NEITHER = "customer_id must be given, or device_id or click_id"
# What each operation of servers may be told wrongly, and all that it says to that.
WRONG: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    (
        "conversions",
        {"revenue": "much", "currency": "EURO", "colour": "red", "occurred_at": "2999-01-01T00:00:00Z"},
        (
            "colour is not a field of such an item",
            "transaction_id field is required",
            NEITHER,
            'revenue must be a number, in major units, or plain text such as 59.90, not "much"',
            "currency must be an ISO 4217 currency code, such as EUR",
            "occurred_at must not be in the future",
        ),
    ),
    ("leads", {"email": "ada@shop.example"}, ("email must be hashed: send email_sha256", NEITHER)),
    (
        "events",
        {"device_id": "x", "click_id": "forged", "metadata": []},
        (
            "name field is required",
            "device_id must be a UUID",
            "metadata must be a JSON object",
            "click_id must be a cl_click_id that one of your links gave a visitor",
        ),
    ),
    (
        "identities",
        {"device_id": str(uuid.UUID(int=7)), "phone_sha256": "1"},
        ("customer_id field is required", "phone_sha256 must be a SHA-256 in 64 hexadecimal digits"),
    ),
    (
        "conversions/refund",
        {"refund_id": "r", "amount": 0.001, "currency": "EUR", "occurred_at": "yesterday"},
        (
            "transaction_id field is required",
            "occurred_at must be an ISO 8601 time with a zone, such as 2026-03-01T12:00:00Z",
            "amount must be more than 0 in the decimals of EUR",
        ),
    ),
]
KINDS = [path for path, _, _ in WRONG]


async def post(
    client: httpx.AsyncClient, organization: TestOrganization, path: str, body: object
) -> httpx.Response:
    """The answer to a body."""
    return await client.post(f"{API}/{path}", json=body, headers=organization.headers)


@pytest.mark.parametrize(("path", "item", "errors"), WRONG, ids=KINDS)
async def test_one_object_that_is_rejected(
    client: httpx.AsyncClient, organization: TestOrganization, path: str, item: Any, errors: tuple[str, ...]
) -> None:
    """400 with the names of all wrong fields: who looks at the status only does not take it for stored."""
    answer = await post(client, organization, path, item)
    assert (answer.status_code, answer.json()) == (400, wrong(*errors))


@pytest.mark.parametrize(("path", "item", "errors"), WRONG, ids=KINDS)
async def test_a_list_that_has_it(
    client: httpx.AsyncClient, organization: TestOrganization, path: str, item: Any, errors: tuple[str, ...]
) -> None:
    """200, also where nothing else is in it: the item's result has the error that it alone is answered."""
    answer = await post(client, organization, path, {"items": [item]})
    rejected = {"status": "rejected", "error": wrong(*errors)}
    assert (answer.status_code, answer.json()) == (200, {"results": [rejected]})


async def test_one_object_is_stored_or_refused(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A sale that is told wrongly is not stored; told rightly it is, and then it is a duplicate: both 200."""
    refused = await post(client, organization, "conversions", SOLD | {"currency": "EURO"})
    assert (refused.status_code, await stored(database, organization, "conversions")) == (400, [])
    answers = [await post(client, organization, "conversions", SOLD) for _ in range(2)]
    told = [(answer.status_code, answer.json()["results"][0]["status"]) for answer in answers]
    assert told == [(200, "accepted"), (200, "duplicate")]


@pytest.mark.parametrize(
    ("refund", "message"),
    [
        ({"amount": 20}, "amount must be at most 19.99 EUR, what is left of the sale"),
        ({"currency": "USD"}, "currency must be EUR, as the sale's"),
    ],
)
async def test_a_refund_that_its_sale_refuses(
    client: httpx.AsyncClient, organization: TestOrganization, refund: dict[str, Any], message: str
) -> None:
    """400 as well, with the name of the field."""
    await post(client, organization, "conversions", SOLD)
    body = {"refund_id": "r1", "transaction_id": "order-1", "amount": 1, "currency": "EUR"} | refund
    answer = await post(client, organization, "conversions/refund", body)
    assert (answer.status_code, answer.json()) == (400, wrong(message))


@pytest.mark.parametrize(
    ("path", "body", "errors"),
    [
        (
            "links",
            {"link_name": 5, "colour": 1, "rules": [{"if": {"country": ["XX"], "week": 1}}, {"then": {}}]},
            (
                "domain field is required",
                "destination_url field is required",
                "colour is not a field of this request",
                "link_name must be a string",
                "rules[0].then is required",
                "rules[0].if.week is not a field: possible are platform, system, browser, language, country, "
                "query, from, until, weekdays, hours, device",
                "rules[0].if.country must have ISO 3166 codes of countries, such as DE",
                "rules[1].then.destination_url is required, or split",
            ),
        ),
        (
            "tags",
            {"color": "loud", "shade": 1},
            (
                "shade is not a field of this request",
                "name field is required",
                "color must be a colour such as #2f6fde, or one of red, orange, yellow, green, teal, blue, "
                "purple, pink, brown, gray",
            ),
        ),
        (
            "analytics/query",
            {"credit": "x", "limit": 0, "colour": 1},
            (
                "colour is not a field of this request",
                "credit must be one of device, customer",
                "limit must be a whole number from 1 to 10000",
            ),
        ),
        ("conversions", {"items": [], "revenue": 1},
         ("revenue must stand in an item, beside items", "items must be a list of 1 to 1,000 items")),
    ],
    ids=["links", "tags", "analytics", "items"],
)  # fmt: skip
async def test_all_wrong_fields_are_told(
    client: httpx.AsyncClient, organization: TestOrganization, path: str, body: Any, errors: tuple[str, ...]
) -> None:
    """Not the first one only: whoever sends a body mends it once."""
    answer = await post(client, organization, path, body)
    assert (answer.status_code, answer.json()) == (400, wrong(*errors))


async def test_all_wrong_parameters_are_told(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """So it is with those of a query string, also with those that are missing."""
    answer = await client.get(f"{API}/clicks/export?format=xml&size=1", headers=organization.headers)
    assert [error["fieldName"] for error in answer.json()["errors"]] == ["format", "size", "from"]
    assert answer.json()["error"] == answer.json()["errors"][0]


async def test_a_bulk_tells_all_wrong_fields_of_an_operation(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """In the operation's own result."""
    update = {"op": "update", "id": "x", "link": {"link_name": 5, "path": "a"}, "colour": "red"}
    answer = await post(client, organization, "links/bulk", {"operations": [update]})
    (result,) = answer.json()["results"]
    names = [error["fieldName"] for error in result["error"]["errors"]]
    assert names == ["colour", "id", "path", "link_name"]


async def test_the_contract_s_operations_tell_one_error_to_the_letter(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Code and sentence of the first one, and no list, where all others have one."""
    body = link_body(organization) | {"link_name": 5, "utm_source": 5}
    answers = [
        await post(client, organization, path, json.loads(json.dumps(body)))
        for path in ("create-link", "links")
    ]
    message = "link_name must be a string"
    assert [answer.status_code for answer in answers] == [400, 400]
    assert answers[0].json() == invalid(message)
    assert answers[1].json() == wrong(message, "utm_source must be a string")


async def test_a_subscription_that_is_missing(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """A query that asks for installs says so of the field; the swapped values are the contract's alone."""
    body = {"measures": ["clicks", "installs"]}
    query = await post(client, organization, "analytics/query", body)
    export = await client.get(
        f"{API}/analytics/export", params={"measures": "installs"}, headers=organization.headers
    )
    message = "measures has installs, for which your subscription is not valid. Please upgrade."
    denied = wrong(message) | {"code": 115, "errorMessage": "Access Denied"}
    assert [(response.status_code, response.json()) for response in (query, export)] == [(403, denied)] * 2
    contract = await post(client, organization, "install-analytics", {"linkId": "x"})
    assert contract.json()["error"]["errorMessage"] == "UNAUTHORIZED_ACCESS"


async def test_many_wrong_fields_are_told_up_to_an_end(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """An answer does not grow with what is sent."""
    answer = await post(client, organization, "events", {f"x{number}": 1 for number in range(1000)})
    assert len(answer.json()["errors"]) == 50
