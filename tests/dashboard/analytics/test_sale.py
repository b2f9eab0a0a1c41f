"""The page that explains a single sale."""

from __future__ import annotations

from datetime import datetime

import httpx

from backend.domain.links.links import Link
from backend.storage.driver.mongo import Database
from tests.api.told_sales import tell
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import address, bought, make_link, table
from tests.dashboard.people import Person, heading
from tests.facts.organizations import TestOrganization


async def test_a_sale_step_by_step(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """From a link's sales to the visits that led to one of them, what each got, and what other models say."""
    other = await make_link(database, organization, "Autumn", now)
    await bought(database, link, now, "20.50", after=other, refunded="0.50")
    sale = await database["conversions"].find_one({"org_id": organization.id})
    assert sale
    order = sale["transaction_id"]
    page = await person.get(address((await person.get(f"/links/{link.id}")).text, order))
    assert heading(page) == f"Sale {order}"
    assert "20.50 EUR, of which 0.50 were paid back" in page.text
    steps = [row[1:] for row in table(page.text, "Step by step")]
    assert [(row[0].split(",")[0], row[2]) for row in steps] == [
        ("A visit from the link Autumn", ""),
        ("A visit from the link Spring", "20.50 EUR"),
        ("The sale", ""),
        (f"0.50 EUR are paid back (refund of {order})", ""),
    ]
    assert steps[0][1] == "It counts, but by these rules others get the credit."
    models = {row[0]: row[1] for row in table(page.text, "What other models say")}
    assert models["first touch"].startswith("all: A visit from the link Autumn")
    assert models["all touches alike (linear)"].count("50 %: ") == 2
    by_first = await person.get(f"/attribution/sale?order={order}&model=first")
    assert table(by_first.text, "Step by step")[0][2] == "It gets all of the sale."


async def test_a_refund_names_the_currency_in_which_it_was_told(
    person: Person,
    client: httpx.AsyncClient,
    database: Database,
    organization: TestOrganization,
    link: Link,
    now: datetime,
) -> None:
    """Also where a server corrected the sale's, so that the refund does not count any more."""
    await bought(database, link, now, "900", "JPY", refunded="300", order="order-7")
    corrected = {"transaction_id": "order-7", "revenue": 49.90, "currency": "EUR", "customer_id": "ada"}
    await tell(client, organization, "conversions", corrected)
    page = (await person.get("/attribution/sale?order=order-7")).text
    (step,) = [row for row in table(page, "Step by step") if "paid back (" in row[1]]
    assert step[1].startswith("300 JPY are paid back")
    assert "49.90 EUR, of which" not in page


async def test_an_order_that_is_not_there(
    person: Person, database: Database, make_organization: OrganizationFactory, now: datetime
) -> None:
    """The page asks for an order, and says if there is none such, also where it is another organization's."""
    assert heading(await person.get("/attribution/sale")) == "Explain a sale"
    theirs = await make_link(database, await make_organization(), "Theirs", now)
    await bought(database, theirs, now, "5", refunded="1")
    sale = await database["conversions"].find_one({"org_id": theirs.org_id})
    assert sale
    for order in ("nothing", sale["transaction_id"]):
        answer = await person.get(f"/attribution/sale?order={order}&model=best&lookback_days=x")
        assert answer.status_code == 404
        assert "is not of a sale that is known" in answer.text
