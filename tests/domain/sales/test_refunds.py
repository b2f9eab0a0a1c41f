"""Refunds, decided without a database: each counts once, and never more comes back than was paid."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.errors import InvalidField, MissingField
from backend.domain.ids import OrgId
from backend.domain.sales.decisions import Status
from backend.domain.sales.refunds import (
    MOST_REFUNDS,
    PaidSale,
    Refund,
    RefundKey,
    SaleKey,
    ToldRefund,
    decide_refunds,
    parse_refund,
)
from backend.domain.visitors.server_calls import Teller

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ORG = OrgId("o")
TELLER = Teller(ORG, None, NOW)
GIVEN: dict[str, Any] = {
    "refund_id": "r", "transaction_id": "t", "amount": Decimal(5), "currency": "EUR",
}  # fmt: skip
SALE = PaidSale("EUR", Decimal("12.50"))


def told_refund(**changes: Any) -> ToldRefund:
    """A refund of 5 EUR of the sale t, unless told otherwise."""
    return parse_refund(GIVEN | changes, TELLER)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"refund_id": " "}, "refund_id field is required"),
        ({"transaction_id": None}, "transaction_id field is required"),
        ({"amount": "5"}, "amount must be a number, in major units"),
        ({"amount": Decimal(-5)}, "amount must be a finite number of 0 or more"),
        ({"amount": Decimal("0.004")}, "amount must be more than 0 in the decimals of EUR"),
        ({"currency": "XYZ1"}, "currency must be an ISO 4217 currency code, such as EUR"),
        ({"reason": "broken"}, "reason is not a field of such an item"),
        ({"occurred_at": "2026-03-02T00:00:00Z"}, "occurred_at must not be in the future"),
    ],
)
def test_bad_refunds_are_refused(changes: dict[str, Any], sentence: str) -> None:
    """Each with a sentence that names the field and the rule."""
    with pytest.raises((MissingField, InvalidField)) as refused:
        told_refund(**changes)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("refund", "sentence"),
    [
        (
            told_refund(transaction_id="u"),
            "transaction_id is not of a sale that is known; tell the sale first",
        ),
        (told_refund(currency="USD"), "currency must be EUR, as the sale's"),
        (told_refund(amount=Decimal("12.51")), "amount must be at most 12.50 EUR, what is left of the sale"),
    ],
)
def test_refunds_that_do_not_fit_are_rejected(refund: ToldRefund, sentence: str) -> None:
    """And may be told again once they do: nothing is marked as counted."""
    decisions = decide_refunds([refund], {(ORG, "t"): SALE}, set())
    (result,) = decisions.results
    assert (result.status, str(result.error)) == (None, sentence)
    assert not decisions.counted
    assert not decisions.added


def test_a_refund_counts_once() -> None:
    """Told again, in the same request or later, it changes nothing, and another amount is named."""
    sales = {(ORG, "t"): SALE}
    both = decide_refunds([told_refund(), told_refund(amount=Decimal(6))], sales, set())
    assert [result.status for result in both.results] == [Status.ACCEPTED, Status.DUPLICATE]
    assert both.results[1].notes == ("amount differs from what was told first, which stays",)
    later = decide_refunds([told_refund()], sales, set(both.counted))
    assert [result.status for result in later.results] == [Status.DUPLICATE]
    assert not later.added


def test_a_sale_has_no_more_refunds_than_its_document_can_hold() -> None:
    """The thousandth is accepted, the next is rejected."""
    refund = Refund("x", Decimal("0.01"), NOW, NOW)
    full = replace(SALE, refunds=(refund,) * (MOST_REFUNDS - 1))
    cents = [told_refund(refund_id=refund_id, amount=Decimal("0.01")) for refund_id in "ab"]
    decisions = decide_refunds(cents, {(ORG, "t"): full}, set())
    assert [result.status for result in decisions.results] == [Status.ACCEPTED, None]


REFUNDS = st.builds(
    lambda refund_id, transaction_id, cents: told_refund(
        refund_id=refund_id, transaction_id=transaction_id, amount=Decimal(cents).scaleb(-2)
    ),
    st.sampled_from("abcdefgh"),
    st.sampled_from("tuv"),
    st.integers(1, 900),
)


@given(st.lists(st.lists(REFUNDS, max_size=4), max_size=6))
def test_refunds_agree_with_a_naive_model(groups: list[list[ToldRefund]]) -> None:
    """However they are grouped, the same refunds count as one by one, and none goes beyond what was paid."""
    sales: dict[SaleKey, PaidSale] = {(ORG, "t"): SALE, (ORG, "u"): replace(SALE, revenue=Decimal(9))}
    counted: set[RefundKey] = set()
    refundable = {"t": 1250, "u": 900}
    model: list[str] = []
    for group in groups:
        decisions = decide_refunds(group, sales, counted)
        counted |= set(decisions.counted)
        for key, refunds in decisions.added.items():
            sales[key] = replace(sales[key], refunds=(*sales[key].refunds, *refunds))
        for item, result in zip(group, decisions.results, strict=True):
            cents = int(item.refund.amount * 100)
            if item.refund.refund_id in model:
                assert result.status is Status.DUPLICATE
            elif cents <= refundable.get(item.transaction_id, 0):
                assert result.status is Status.ACCEPTED
                model.append(item.refund.refund_id)
                refundable[item.transaction_id] -= cents
            else:
                assert result.status is None
    assert {key[1]: int(sale.refundable * 100) for key, sale in sales.items()} == refundable
