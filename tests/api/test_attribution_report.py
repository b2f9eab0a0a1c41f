"""From the SDK's calls to the owner's report: links, campaigns and sources, first and last touch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from backend.domain.credit_rules import CreditRules, Model
from backend.storage.attribution_report import Grouping, Period, attribution_report
from backend.storage.mongo import Database
from tests.organizations import TestOrganization
from tests.sdk_batches import Visitor, call, check, conversion


@pytest.fixture
def visitor(client: httpx.AsyncClient, organization: TestOrganization) -> Visitor:
    """A browser on the site of this test's organization."""
    return Visitor(client, organization)


Found = dict[str | None, tuple[int, int, dict[str, Decimal], int]]


async def report(
    database: Database,
    visitor: Visitor,
    grouping: str = "source",
    touch: str = "last_non_direct",
    period: Period | None = None,
) -> Found:
    """The report: leads, conversions, revenue and customers by key."""
    rows = await attribution_report(
        database,
        visitor.organization.id,
        Grouping(grouping),
        CreditRules(model=Model(touch)),
        period or Period(),
    )
    return {
        row.key: (int(row.leads), int(row.conversions), row.revenue, len(row.customer_ids)) for row in rows
    }


async def test_first_and_last_touch(visitor: Visitor, database: Database) -> None:
    """The same conversion is the first or the last touch's, as asked; organic ones have their own row."""
    await visitor.results(
        conversion(ago=timedelta(hours=3), revenue=1),
        check(ago=timedelta(hours=2), utm_source="news", utm_campaign="spring"),
        check(ago=timedelta(hours=1), utm_source="ads"),
        conversion(revenue=19.99),
        call("lead"),
    )
    organic = (0, 1, {"EUR": Decimal("1.00")}, 0)
    bought = (1, 1, {"EUR": Decimal("19.99")}, 0)
    assert await report(database, visitor, touch="last_non_direct") == {None: organic, "ads": bought}
    assert await report(database, visitor, touch="first") == {None: organic, "news": bought}
    assert await report(database, visitor, "campaign", "first") == {None: organic, "spring": bought}


async def test_revenue_is_exact_in_each_currency(visitor: Visitor, database: Database) -> None:
    """Sums are decimal and never mix currencies."""
    await visitor.results(
        check(utm_source="s"),
        *(conversion(revenue=0.1) for _ in range(30)),
        conversion(revenue=100, currency="JPY"),
        conversion(revenue=1.005, currency="KWD"),
    )
    (row,) = (await report(database, visitor)).values()
    assert row[2] == {"EUR": Decimal("3.00"), "JPY": Decimal(100), "KWD": Decimal("1.005")}


async def test_one_customer_on_several_devices(visitor: Visitor, database: Database) -> None:
    """A customer who buys on two devices is counted once."""
    other = Visitor(visitor.client, visitor.organization)
    for each in (visitor, other):
        await each.results(
            check(ago=timedelta(minutes=1), utm_source="s"),
            call("identify", customer_id="ada"),
            conversion(customer_id="ada"),
        )
    (row,) = (await report(database, visitor)).values()
    assert (row[1], row[3]) == (2, 1)


async def test_several_customers_on_one_device(visitor: Visitor, database: Database) -> None:
    """What a device does belongs to the customer that it was identified as last, until then."""
    await visitor.results(
        check(ago=timedelta(hours=5), utm_source="s"),
        call("identify", ago=timedelta(hours=4), customer_id="ada"),
        call("identify", ago=timedelta(hours=2), customer_id="bob"),
        conversion(ago=timedelta(hours=3)),
        conversion(ago=timedelta(hours=1)),
        conversion(customer_id="eve"),
    )
    found = database["conversions"].find({"org_id": visitor.organization.id}).sort("at", 1)
    assert [each["customer_id"] async for each in found] == ["ada", "bob", "eve"]
    (row,) = (await report(database, visitor)).values()
    assert row[3] == 3


async def test_an_identity_that_arrives_later(visitor: Visitor, database: Database) -> None:
    """What a device did before it was identified counts for the customer that it turned out to be."""
    await visitor.results(check(ago=timedelta(minutes=1), utm_source="s"), conversion(), call("lead"))
    assert (await report(database, visitor))["s"][3] == 0
    await visitor.results(call("identify", customer_id="ada"))
    assert (await report(database, visitor))["s"][3] == 1


async def test_a_period(visitor: Visitor, database: Database) -> None:
    """Only what happened within the days asked for is counted."""
    now = datetime.now(UTC)
    await visitor.results(conversion(ago=timedelta(days=3)), conversion())
    since = Period(since=now - timedelta(days=1))
    until = Period(until=now - timedelta(days=1))
    for period in (since, until):
        assert (await report(database, visitor, period=period))[None][1] == 1


async def test_links_and_other_organizations(
    visitor: Visitor, client: httpx.AsyncClient, make_organization: Any, database: Database
) -> None:
    """A link's row holds what its visitors did, and another organization's report has none of it."""
    organization = visitor.organization
    body = {
        "domain": organization.domain,
        "destination_url": "https://shop.example/",
        "link_name": "Kites",
        "selected_path": "kites",
        "ios_behavior": 1,
        "android_behavior": 1,
    }
    await client.post("/serviceCore/pa/v1/create-link", json=body, headers=organization.headers)
    link = await database["links"].find_one({"org_id": organization.id})
    assert link is not None
    await visitor.results(check(cl_link_id=link["_id"], ago=timedelta(minutes=1)), conversion())
    assert (await report(database, visitor, "link"))[link["_id"]][1] == 1
    stranger = Visitor(client, await make_organization())
    assert await report(database, stranger, "link") == {}
