"""Reports against the ledger: what was paid and paid back, by whatever rules the credit is given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from itertools import product
from typing import Any

import httpx
import pytest

from backend.domain.fields.money import MINOR_DIGITS
from backend.domain.sales.credit_rules import CreditTo, Model
from tests.api.analytics.test_query_sales import answer, rows
from tests.api.told_sales import tell
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

HOUR = timedelta(hours=1)
# Of each sale: what was paid in which currency, and what was paid back of it, in parts.
LEDGER = {
    "page": (Decimal("19.99"), "EUR", ["0.01", "6.66"]),
    "both": (Decimal("100.01"), "EUR", ["33.34"]),
    "webhook": (Decimal("0.07"), "EUR", ["0.07"]),
    "nobody": (Decimal(5), "EUR", []),
    "yen": (Decimal(1000), "JPY", ["1", "333"]),
    "dinar": (Decimal("1.005"), "KWD", ["0.004"]),
}
MONEY = ("revenue", "refunds", "net_revenue")
# By measure and currency.
Sums = dict[str, defaultdict[str, Decimal]]


@pytest.fixture
async def visitor(client: httpx.AsyncClient, organization: TestOrganization) -> Visitor:
    """The phone of a customer who came by three campaigns, and bought on it, on a laptop and elsewhere."""
    phone, laptop = Visitor(client, organization), Visitor(client, organization)
    landings = [check(ago=hours * HOUR, utm_source=name) for hours, name in ((9, "a"), (8, "b"), (7, "c"))]
    await phone.results(*landings, call("identify", ago=6 * HOUR, customer_id="ada"), _sold("page"))
    await laptop.results(check(ago=HOUR, utm_source="d"), _sold("both"), _sold("yen"))
    told = [_sale("both", "ada"), _sale("webhook", "ada"), _sale("dinar", "ada"), _sale("nobody", "bob")]
    assert [result["status"] for result in await tell(client, organization, "conversions", *told)] == [
        "duplicate", "accepted", "accepted", "accepted",
    ]  # fmt: skip
    refunds = [
        {"refund_id": f"{name} {part}", "transaction_id": name, "amount": float(part), "currency": currency}
        for name, (_, currency, parts) in LEDGER.items()
        for part in parts
    ]
    assert {
        result["status"] for result in await tell(client, organization, "conversions/refund", *refunds)
    } == {"accepted"}
    return phone


def _sale(name: str, customer_id: str | None = None) -> dict[str, Any]:
    revenue, currency, _ = LEDGER[name]
    sale = {"transaction_id": name, "revenue": float(revenue), "currency": currency}
    return sale | ({"customer_id": customer_id} if customer_id else {})


def _sold(name: str) -> Any:
    return conversion(**_sale(name))


def nothing() -> Sums:
    """No amounts."""
    return {name: defaultdict(Decimal) for name in MONEY}


def ledger() -> Sums:
    """What the ledger comes to: by measure and currency."""
    sums = nothing()
    for revenue, currency, parts in LEDGER.values():
        refunded = sum(map(Decimal, parts), Decimal())
        amounts = (revenue, refunded, revenue - refunded)
        for name, amount in zip(MONEY, amounts, strict=True):
            sums[name][currency] += amount
    return sums


async def test_sums_are_those_of_the_ledger(visitor: Visitor) -> None:
    """Totals to the cent in each currency; rows by themselves are rounded, whoever gets the credit."""
    for credit, model in product(CreditTo, Model):
        rules = {"credit": credit.value, "model": model.value}
        report = await answer(visitor, "conversions", *MONEY, group_by=["source"], **rules)
        assert (await answer(visitor, "conversions", *MONEY, **rules))["totals"] == report["totals"]
        assert round(sum(row["conversions"] for row in report["rows"]), 5) == len(LEDGER), (credit, model)
        total, sums = nothing(), nothing()
        for name, amount in _amounts(report["totals"]):
            total[name][amount["currency"]] += Decimal(amount["amount"])
        assert total == ledger(), (credit, model)
        for row in report["rows"]:
            for name, amount in _amounts(row):
                sums[name][amount["currency"]] += Decimal(amount["amount"])
        _check_rounded(sums, len(report["rows"]))


def _amounts(row: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each amount of a row, with its measure."""
    yield from ((name, amount) for name in MONEY for amount in row[name])


def _check_rounded(sums: Sums, rows: int) -> None:
    """Sums of so many rounded amounts are those of the ledger, but for half a unit of each."""
    for name, amounts in ledger().items():
        for currency, amount in amounts.items():
            unit = Decimal(1).scaleb(-MINOR_DIGITS[currency])
            assert abs(sums[name][currency] - amount) <= rows * unit / 2, (name, currency)


async def test_a_refund_is_taken_from_the_touch_that_earned_the_sale(visitor: Visitor) -> None:
    """From the last touch's, or from each touch's part: nobody is left with less than nothing."""
    last = await rows(visitor, "source", *MONEY, currency="JPY")
    assert last["d"] == {"revenue": "1000", "refunds": "334", "net_revenue": "666"}
    shared = await rows(visitor, "source", *MONEY, currency="EUR", credit="customer", model="linear")
    assert all(Decimal(row["net_revenue"]) >= 0 for row in shared.values())
    assert sum(Decimal(row["refunds"]) > 0 for row in shared.values()) == 4
