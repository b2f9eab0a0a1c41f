"""POST /conversions/refund: what was paid back of sales."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import httpx

from backend.domain.ids import CustomerId
from backend.domain.visitors.persons import Subject
from backend.storage.driver.mongo import Database, Document
from backend.storage.lifecycle.privacy.privacy import erase_subject
from tests.api.told_sales import API, SALE, stored, tell
from tests.facts.organizations import TestOrganization, create_test_organization

REFUND: dict[str, Any] = {
    "refund_id": "r1", "transaction_id": "order-1", "amount": 9.99, "currency": "EUR",
}  # fmt: skip
REFUNDS = "conversions/refund"


def refunded(sale: Document) -> Decimal:
    """What came back of a stored sale."""
    amounts: list[Decimal] = [refund["amount"].to_decimal() for refund in sale.get("refunds", [])]
    return sum(amounts, Decimal())


async def test_a_sale_is_refunded_in_parts(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Each part counts once, up to what was paid; the rest is refused with what is left."""
    await tell(client, organization, "conversions", SALE | {"customer_id": "ada"})
    first = await tell(client, organization, REFUNDS, REFUND)
    more = await tell(
        client,
        organization,
        REFUNDS,
        REFUND,
        REFUND | {"refund_id": "r2", "amount": 10.01},
        REFUND | {"refund_id": "r2", "amount": 10},
        REFUND | {"refund_id": "r3", "amount": 0.01},
        REFUND | {"amount": "all"},
    )
    statuses = [result["status"] for result in (*first, *more)]
    assert statuses == ["accepted", "duplicate", "rejected", "accepted", "rejected", "rejected"]
    errors = [result["error"]["error"]["errorMessage"] for result in more if "error" in result]
    assert errors == [
        "amount must be at most 10.00 EUR, what is left of the sale",
        "amount must be at most 0.00 EUR, what is left of the sale",
        'amount must be a number, in major units, or plain text such as 59.90, not "all"',
    ]
    (sale,) = await stored(database, organization, "conversions")
    assert refunded(sale) == Decimal("19.99")


async def test_a_refund_is_of_its_organization_s_sale(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Another organization's order is not known here, and its refund of the same name is another one.

    The answer says by its status, and by a name of its own, that the refund may be told again once the
    sale is there; so does the result of one in a list.
    """
    other = await create_test_organization(database)
    await tell(client, organization, "conversions", SALE | {"customer_id": "ada"})
    bodies = (REFUND, {"items": [REFUND]})
    alone, listed = [
        await client.post(f"{API}/{REFUNDS}", json=body, headers=other.headers) for body in bodies
    ]
    said = "There is no sale with this transaction_id; tell this refund again once it is told: it is not kept"
    assert (alone.status_code, alone.json()) == (404, {
        "code": 103,
        "errorMessage": "The requested entity could not be found",
        "error": {"errorMessage": said, "fieldName": "TRANSACTION_NOT_FOUND"},
    })  # fmt: skip
    assert (listed.status_code, listed.json()["results"]) == (
        200, [{"status": "rejected", "error": alone.json()}],
    )  # fmt: skip
    await tell(client, other, "conversions", SALE | {"customer_id": "ada"})
    for owner in (organization, other):
        (result,) = await tell(client, owner, REFUNDS, REFUND)
        assert result["status"] == "accepted"


async def test_a_refund_counts_once_for_ever(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Also after its sale was erased. Then another of that sale is refused, and its id for another sale."""
    sales = [SALE | {"customer_id": name, "transaction_id": f"order-{name}"} for name in ("ada", "bob")]
    await tell(client, organization, "conversions", *sales)
    await tell(client, organization, REFUNDS, REFUND | {"transaction_id": "order-ada"})
    await erase_subject(database, organization.id, Subject(customer_id=CustomerId("ada")))
    of_other, again, another = await tell(
        client,
        organization,
        REFUNDS,
        REFUND | {"transaction_id": "order-bob"},
        REFUND | {"transaction_id": "order-ada"},
        REFUND | {"transaction_id": "order-ada", "refund_id": "r2"},
    )
    assert of_other["error"]["error"] == {
        "errorMessage": "refund_id belongs to a refund of another transaction; "
        "each refund of yours needs an id of its own",
        "fieldName": "refund_id",
    }
    assert again["status"] == "duplicate"
    assert another["error"]["error"] == {
        "errorMessage": "transaction_id is of a sale that was erased or has expired: "
        "its refunds are not kept, and need not be sent again",
        "fieldName": "transaction_id",
    }
    (bobs,) = await stored(database, organization, "conversions")
    assert refunded(bobs) == 0
