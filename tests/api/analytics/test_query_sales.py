"""From the SDK's calls to queries of analytics: which link, campaign and customer a sale counts for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import product
from typing import Any

import httpx
import pytest

from backend.domain.sales.credit_rules import CreditTo, Model
from backend.storage.accounts.organizations import set_retention_days
from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, create, info
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

HOUR = timedelta(hours=1)
Rows = dict[str | None, dict[str, Any]]


@pytest.fixture
def visitor(client: httpx.AsyncClient, organization: TestOrganization) -> Visitor:
    """A browser on the site of this test's organization."""
    return Visitor(client, organization)


async def rows(visitor: Visitor, field: str, *measures: str, **query: Any) -> Rows:
    """The rows of the last 28 days by their value of this field, or by their kind where they have one."""
    return by_value(await answer(visitor, *measures, group_by=[field], **query), field)


def by_value(report: dict[str, Any], field: str) -> Rows:
    """The rows of an answer by their value of this field, or by their kind where they have one."""
    return {row.pop("kind", row.pop(field)): row for row in report["rows"]}


async def answer(visitor: Visitor, *measures: str, **query: Any) -> dict[str, Any]:
    """The answer to a query about the last 28 days."""
    body, headers = {"measures": measures} | query, visitor.organization.headers
    answered = await visitor.client.post(f"{API}/analytics/query", json=body, headers=headers)
    assert answered.status_code == 200, answered.text
    report: dict[str, Any] = answered.json()
    return report


async def make_link(visitor: Visitor, **fields: Any) -> str:
    """A new link's id."""
    short_url = await create(visitor.client, visitor.organization, **fields)
    return str((await info(visitor.client, visitor.organization, short_url))["id"])


async def test_first_and_last_touch(visitor: Visitor) -> None:
    """The same sale is the first or the last touch's, as asked; one before all touches is nobody's."""
    await visitor.results(
        conversion(ago=3 * HOUR, revenue=1),
        check(ago=2 * HOUR, utm_source="news"),
        check(ago=HOUR, utm_source="ads"),
        conversion(revenue=19.99),
        call("lead"),
    )
    organic = {"leads": 0, "conversions": 1, "revenue": "1.00"}
    bought = {"leads": 1, "conversions": 1, "revenue": "19.99"}
    asked = ("source", "leads", "conversions", "revenue")
    assert await rows(visitor, *asked, currency="EUR") == {"not_credited": organic, "ads": bought}
    assert await rows(visitor, *asked, currency="EUR", model="first") == {
        "not_credited": organic,
        "news": bought,
    }


async def test_a_campaign_is_the_link_s_as_it_is_now(visitor: Visitor) -> None:
    """Changing it moves the link's past; what no link led to counts for what its address said."""
    link_id = await make_link(visitor, utm_campaign="spring")
    await visitor.results(check(ago=2 * HOUR, cl_link_id=link_id), conversion(ago=HOUR))
    await visitor.results(check(utm_campaign="ad"), conversion())
    assert list(await rows(visitor, "campaign", "conversions")) == ["ad", "spring"]
    change = {"utm_campaign": "summer"}
    url = f"{API}/links/{link_id}"
    await visitor.client.patch(url, json=change, headers=visitor.organization.headers)
    assert list(await rows(visitor, "campaign", "conversions")) == ["ad", "summer"]
    filters = {"campaign": ["summer"]}
    assert list(await rows(visitor, "link", "conversions", filters=filters)) == [link_id]


async def test_revenue_is_exact_in_each_currency(visitor: Visitor) -> None:
    """Sums are decimal and never mix currencies."""
    paid = [(0.1, "EUR")] * 30 + [(100, "JPY"), (1.005, "KWD")]
    await visitor.results(
        check(utm_source="s"), *(conversion(revenue=revenue, currency=of) for revenue, of in paid)
    )
    assert (await rows(visitor, "source", "revenue"))["s"]["revenue"] == [
        {"currency": "EUR", "amount": "3.00"},
        {"currency": "JPY", "amount": "100"},
        {"currency": "KWD", "amount": "1.005"},
    ]


async def test_several_customers_on_one_device(visitor: Visitor) -> None:
    """What a device does is the customer's that it was identified as last, until then; a told one wins."""
    await visitor.results(
        check(ago=5 * HOUR, utm_source="s"),
        call("identify", ago=4 * HOUR, customer_id="ada"),
        call("identify", ago=2 * HOUR, customer_id="bob"),
        conversion(ago=3 * HOUR),
        conversion(ago=HOUR),
        conversion(customer_id="eve"),
    )
    bought = await rows(visitor, "source", "conversions", "customers", currency="EUR")
    assert bought["s"] == {"conversions": 3, "customers": 3}


async def test_a_customer_counts_once(visitor: Visitor) -> None:
    """On two devices, in totals over rows, and for what a device did before it was identified."""
    other = Visitor(visitor.client, visitor.organization)
    await visitor.results(check(ago=HOUR, utm_source="a"), conversion())
    assert (await rows(visitor, "source", "customers"))["a"] == {"customers": 0}
    await visitor.results(call("identify", customer_id="ada"))
    await other.results(check(ago=HOUR, utm_source="b"), conversion(customer_id="ada"))
    report = await answer(visitor, "customers", group_by=["source"])
    assert by_value(report, "source") == {"a": {"customers": 1}, "b": {"customers": 1}}
    assert report["totals"] == {"customers": 1}
    assert any("once in the totals" in note for note in report["notes"])


async def test_what_retention_deleted_is_told(visitor: Visitor, database: Database) -> None:
    """A note says how long leads and conversions are kept, only where they were asked for."""
    await set_retention_days(database, visitor.organization.id, 30)
    url, headers = f"{API}/analytics/query", visitor.organization.headers
    asked = await visitor.client.post(url, json={"measures": ["leads"]}, headers=headers)
    assert any("deleted after 30 days" in note for note in asked.json()["notes"])
    assert (await visitor.client.post(url, json={}, headers=headers)).json()["notes"] == []


async def test_a_click_on_the_phone_and_a_purchase_on_the_laptop(visitor: Visitor) -> None:
    """By customer the sale is that click's; a direct visit takes it only by the last visit."""
    laptop = Visitor(visitor.client, visitor.organization)
    link_id = await make_link(visitor)
    await visitor.results(check(ago=3 * HOUR, cl_link_id=link_id), call("identify", customer_id="ada"))
    await laptop.results(check(ago=2 * HOUR), conversion(revenue=10, customer_id="ada"))
    asked = ("link", "conversions", "revenue", "customers")
    figures = {"conversions": 1, "revenue": "10.00", "customers": 1}
    nobody, of_link = {"not_credited": figures}, {link_id: figures}

    async def credited(**rules: Any) -> Any:
        got = await rows(visitor, *asked, currency="EUR", **rules)
        return {key: {name: row[name] for name in asked[1:]} for key, row in got.items()}

    assert await credited() == await credited(credit="device", model="linear") == nobody
    for model in ("last_non_direct", "first", "linear", "position_based"):
        assert await credited(credit="customer", model=model) == of_link
    assert await credited(credit="customer", model="last") == nobody
    assert await credited(credit="customer", lookback_days=1) == of_link
    assert await credited(credit="customer", as_of="2026-01-01") == {}


async def test_a_wrong_identity_is_taken_back(visitor: Visitor) -> None:
    """From then on the sale is no click's, but as it stood before; told again, it holds again."""
    laptop = Visitor(visitor.client, visitor.organization)
    await visitor.results(check(ago=3 * HOUR, utm_source="ads"), call("identify", customer_id="ada"))
    await laptop.results(conversion(customer_id="ada"), call("lead"))
    url, headers = f"{API}/identities", visitor.organization.headers
    wrong = {"device_id": visitor.device_id, "customer_id": "ada"}
    asked = ("source", "conversions")

    async def credited(**rules: Any) -> list[str | None]:
        return list(await rows(visitor, *asked, credit="customer", **rules))

    assert await credited() == ["ads"]
    before = datetime.now(UTC).isoformat()
    assert (await visitor.client.delete(url, params=wrong, headers=headers)).status_code == 204
    assert await credited() == ["not_credited"]
    assert await credited(as_of=before) == ["ads"]
    again = await visitor.client.delete(url, params=wrong, headers=headers)
    assert (again.status_code, again.json()["error"]["fieldName"]) == (404, "IDENTITY_NOT_FOUND")
    await visitor.results(call("identify", customer_id="ada"))
    assert await credited() == ["ads"]


async def test_customers_are_counted_without_what_was_taken_back(visitor: Visitor) -> None:
    """Also those that records were told of, by the credit that every record keeps."""
    await visitor.results(check(ago=HOUR, utm_source="a"), conversion(customer_id="ada"), call("lead"))
    assert (await rows(visitor, "source", "customers"))["a"] == {"customers": 1}
    wrong = {"device_id": visitor.device_id, "customer_id": "ada"}
    await visitor.client.delete(f"{API}/identities", params=wrong, headers=visitor.organization.headers)
    assert await rows(visitor, "source", "customers", "conversions", currency="EUR") == {
        "a": {"customers": 0, "conversions": 1}
    }


async def test_what_a_sale_says_no_more_is_not_taken_back(visitor: Visitor) -> None:
    """Of a device that a sale said to be a customer's until a server named another, only that one is."""
    sale: dict[str, Any] = {"transaction_id": "order-1", "revenue": 5, "currency": "EUR"}
    headers = visitor.organization.headers
    await visitor.results(call("conversion", customer_id="bob", **sale))
    told = sale | {"customer_id": "ada"}
    answered = await visitor.client.post(f"{API}/conversions", json=told, headers=headers)
    assert answered.status_code == 200, answered.text
    statuses = {}
    for customer in ("bob", "ada"):
        wrong = {"device_id": visitor.device_id, "customer_id": customer}
        answered = await visitor.client.delete(f"{API}/identities", params=wrong, headers=headers)
        statuses[customer] = answered.status_code
    assert statuses == {"bob": 404, "ada": 204}


async def test_shares_add_up_in_each_currency(visitor: Visitor) -> None:
    """Whatever the rules, totals are the sales to the smallest unit, and rows are exact but for rounding."""
    phone = Visitor(visitor.client, visitor.organization)
    for device, sources in ((visitor, "abc"), (phone, "dcef")):
        checks = [check(ago=(9 - at) * HOUR, utm_source=name) for at, name in enumerate(sources)]
        paid = ((10, "EUR"), (0.05, "EUR"), (100, "JPY"), (1.001, "KWD"))
        sales = [conversion(revenue=revenue, currency=name, customer_id="ada") for revenue, name in paid]
        await device.results(*checks, *sales, call("lead"))
    sold = {"EUR": Decimal("20.10"), "JPY": Decimal(200), "KWD": Decimal("2.002")}
    shared: dict[tuple[CreditTo, Model], Rows] = {}
    for credit, model in product(CreditTo, Model):
        report = await answer(
            visitor, "leads", "conversions", "revenue", group_by=["source"], credit=credit, model=model
        )
        total, shared[credit, model] = report["totals"], by_value(report, "source")
        alone = await answer(visitor, "leads", "conversions", "revenue", credit=credit, model=model)
        assert alone["totals"] == total
        assert {amount["currency"]: Decimal(amount["amount"]) for amount in total["revenue"]} == sold, model
        assert (total["conversions"], total["leads"]) == (8, 2)
        sold_by_rows = sum(row["conversions"] for row in shared[credit, model].values())
        assert sold_by_rows == pytest.approx(8, abs=1e-5)
    linear = shared[CreditTo.DEVICE, Model.LINEAR]
    # A third of each of 10 EUR and 0.05 EUR, rounded once together, and a quarter.
    amounts = [
        {amount["currency"]: amount["amount"] for amount in linear[name]["revenue"]} for name in "abdef"
    ]
    assert amounts[:2] == [{"EUR": "3.35", "JPY": "33", "KWD": "0.334"}] * 2
    assert amounts[2:] == [{"EUR": "2.51", "JPY": "25", "KWD": "0.250"}] * 3
    by_customer = shared[CreditTo.CUSTOMER, Model.LINEAR]
    assert by_customer["c"]["conversions"] == pytest.approx(2 * 8 / 7, abs=1e-4)


async def test_what_records_keep_equals_what_is_looked_up(visitor: Visitor) -> None:
    """The credit that MongoDB adds up is the one that the histories of devices give, also in a window."""
    for number in range(3):
        device = Visitor(visitor.client, visitor.organization)
        await device.results(
            check(ago=(5 + 20 * number) * HOUR, utm_source=f"s{number}"),
            conversion(ago=(4 + number) * HOUR),
            check(ago=3 * HOUR, utm_source="ads"),
            check(ago=2 * HOUR),
            conversion(revenue=number + 1),
            call("lead"),
        )
    asked = ("source", "leads", "conversions", "customers", "revenue")
    tomorrow = (datetime.now(UTC) + 24 * HOUR).isoformat(timespec="seconds")
    for model, days in product(("first", "last_non_direct"), (None, 1)):
        # As it stands tomorrow is as it stands now, but looked up.
        rules: dict[str, Any] = {"model": model, "lookback_days": days}
        kept = await rows(visitor, *asked, **rules)
        assert kept == await rows(visitor, *asked, **rules, as_of=tomorrow)
        assert ("s2" in kept) is (days is None)
