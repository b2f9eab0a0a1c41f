"""The single sales of a link: on its page, on pages of their own, and as a file."""

from __future__ import annotations

import csv
import io
from datetime import datetime, timedelta

from bson import Decimal128

from backend.domain.links.links import Link
from backend.storage.accounts.organizations import set_retention_days
from backend.storage.driver.mongo import Database
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import address, bought, make_link, rows, table
from tests.dashboard.people import Person, heading
from tests.facts.organizations import TestOrganization


async def test_the_latest_on_its_page(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """The newest first, by the person's clock; only those that the link gets the credit for."""
    other = await make_link(database, organization, "Other", now)
    await bought(database, link, now - timedelta(days=400), "1234567.5")
    await bought(database, link, now, "7.25", "USD", after=other)
    await bought(database, other, now, "99", after=link)
    paid_back = {
        "refund_id": "r",
        "amount": Decimal128("7"),
        "currency": "USD",
        "at": now,
        "received_at": now,
    }
    condition = {"org_id": organization.id, "currency": "USD"}
    await database["conversions"].update_one(condition, {"$push": {"refunds": paid_back}})
    person.client.cookies.set("waylink_zone", "Asia/Kathmandu", domain="localhost.local")
    page = (await person.get(f"/links/{link.id}")).text
    assert table(page, "Sales") == [
        ["18 Mar 2026, 17:55", "7.25 USD 7.00 paid back", "–", "–", "0 s"],
        ["11 Feb 2025, 17:55", "1,234,568 EUR", "–", "–", "0 s"],
    ]
    assert "Asia/Kathmandu" in page


async def test_pages_and_a_file_of_all(person: Person, database: Database, link: Link, now: datetime) -> None:
    """Pages have 25 sales, the file has all of them in the same order, with exact amounts."""
    for number in range(27):
        await bought(database, link, now - timedelta(hours=number), f"{1000 + number}.25")
    first = await person.get(address((await person.get(f"/links/{link.id}")).text, "All 27"))
    assert heading(first) == "Sales of Spring"
    assert "27 sales" in first.text
    second = (await person.get(address(first.text, "Next page"))).text
    amounts = [row[1] for row in rows(first.text) + rows(second)]
    assert amounts == [f"{1000 + number:,}.25 EUR" for number in range(27)]
    head, *lines = csv.reader(io.StringIO((await person.get(f"/links/{link.id}/sales.csv")).text))
    assert head == ["at", "revenue", "currency", "transaction_id", "customer_id", "visit_at", "refunded"]
    assert [line[1] for line in lines] == [f"{1000 + number}.25" for number in range(27)]
    assert "There are no more sales" in (await person.get(f"/links/{link.id}/sales?page=9")).text


async def test_another_organization_s_sales(
    person: Person, database: Database, make_organization: OrganizationFactory, now: datetime
) -> None:
    """Neither the pages nor the file of another's link are there."""
    theirs = await make_link(database, await make_organization(), "Theirs", now)
    await bought(database, theirs, now, "5")
    for path in ("sales", "sales.csv"):
        assert (await person.get(f"/links/{theirs.id}/{path}")).status_code == 404


async def test_what_a_shorter_retention_ends(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """Neither the pages nor the file have it from then on, though MongoDB deletes it later."""
    await bought(database, link, now - timedelta(days=40), "30")
    await bought(database, link, now, "7.25")
    await set_retention_days(database, organization.id, 30)
    assert [row[1] for row in table((await person.get(f"/links/{link.id}")).text, "Sales")] == ["7.25 EUR"]
    assert "1 sale" in (await person.get(f"/links/{link.id}/sales")).text
    _, *lines = csv.reader(io.StringIO((await person.get(f"/links/{link.id}/sales.csv")).text))
    assert [line[1] for line in lines] == ["7.25"]
