"""Refunds, decided without a database: each counts once, and never more comes back than was paid."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
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
    SaleUnknown,
    ToldRefund,
    decide_refunds,
    parse_refund,
    refunded,
)
from backend.domain.visitors.server_calls import Teller

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ORG = OrgId("o")
TELLER = Teller(ORG, None, NOW)
GIVEN: dict[str, Any] = {
    "refund_id": "r", "transaction_id": "t", "amount": Decimal(5), "currency": "EUR",
}  # fmt: skip
SALE = PaidSale("EUR", Decimal("12.50"), NOW)


def told_refund(**changes: Any) -> ToldRefund:
    """A refund of 5 EUR of the sale t, unless told otherwise."""
    return parse_refund(GIVEN | changes, TELLER)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"refund_id": " "}, "refund_id field is required"),
        ({"transaction_id": None}, "transaction_id field is required"),
        (
            {"amount": "5,00"},
            'amount must be a number, in major units, or plain text such as 59.90, not "5,00"',
        ),
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
    of_sale = {(refund.key, refund.sale_key) for refund in both.counted.values()}
    later = decide_refunds([told_refund()], sales, set(both.counted), of_sale=of_sale)
    assert [result.status for result in later.results] == [Status.DUPLICATE]
    assert not later.added


def test_a_sale_has_no_more_refunds_than_its_document_can_hold() -> None:
    """The thousandth is accepted, the next is rejected."""
    refund = Refund("x", Decimal("0.01"), "EUR", NOW, NOW)
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


def test_a_refund_of_another_sale_needs_another_id() -> None:
    """In the same request or later, also where that sale is not known, it is told which rule it breaks."""
    sales = {(ORG, "t"): SALE, (ORG, "u"): SALE}
    first = told_refund()
    for named in ("u", "unknown"):
        other = told_refund(transaction_id=named)
        together = decide_refunds([first, other], sales, set()).results[1]
        (later,) = decide_refunds([other], sales, {first.key}, of_sale={(first.key, first.sale_key)}).results
        sentence = (
            "refund_id belongs to a refund of another transaction; "
            "each refund of yours needs an id of its own"
        )
        assert [(result.status, str(result.error)) for result in (together, later)] == [(None, sentence)] * 2


def test_a_refund_of_a_sale_that_is_gone_is_not_to_be_sent_again() -> None:
    """Its error is not the one that asks for that, and says why."""
    (result,) = decide_refunds([told_refund()], {}, set(), gone={(ORG, "t")}).results
    assert isinstance(result.error, InvalidField)
    assert not isinstance(result.error, SaleUnknown)
    assert str(result.error) == (
        "transaction_id is of a sale that was erased or has expired: "
        "its refunds are not kept, and need not be sent again"
    )


def test_a_refund_before_its_sale_gets_a_note() -> None:
    """It counts all the same: clocks differ."""
    sale = replace(SALE, at=NOW + timedelta(seconds=1))
    (result,) = decide_refunds([told_refund()], {(ORG, "t"): sale}, set()).results
    assert result.status is Status.ACCEPTED
    assert result.notes == ("occurred_at is before the sale, which was at 2026-03-01T12:00:01Z",)
    (result,) = decide_refunds([told_refund()], {(ORG, "t"): SALE}, set()).results
    assert result.notes == ()


def test_what_a_browser_told_does_not_refuse_a_refund_for_good() -> None:
    """The error says how the server can mend it."""
    sale = PaidSale("JPY", Decimal(0), NOW, is_of_browsers=True)
    (result,) = decide_refunds([told_refund()], {(ORG, "t"): sale}, set()).results
    assert str(result.error) == (
        "currency must be JPY, as the sale that a browser told; "
        "if it is wrong, tell the sale from your server first"
    )


def test_refunds_count_in_the_sale_s_currency_and_up_to_what_was_paid() -> None:
    """Also those that were told before a server told another amount, or another currency."""
    refunds = [
        Refund(str(number), Decimal(8), currency, NOW, NOW)
        for number, currency in enumerate(["EUR", "EUR", "JPY"])
    ]
    for currency, revenue, expected in [("EUR", 20, 16), ("EUR", 10, 10), ("JPY", 20, 8), ("USD", 20, 0)]:
        assert refunded(refunds, currency, Decimal(revenue)) == expected
        assert PaidSale(currency, Decimal(revenue), NOW, tuple(refunds)).refundable == revenue - expected


@given(st.lists(st.lists(REFUNDS, max_size=4), max_size=6))
def test_refunds_agree_with_a_naive_model(groups: list[list[ToldRefund]]) -> None:
    """However they are grouped, the same refunds count as one by one, and none goes beyond what was paid."""
    sales: dict[SaleKey, PaidSale] = {(ORG, "t"): SALE, (ORG, "u"): replace(SALE, revenue=Decimal(9))}
    counted: dict[RefundKey, SaleKey] = {}
    refundable = {"t": 1250, "u": 900}
    model: dict[str, str] = {}
    for group in groups:
        decisions = decide_refunds(group, sales, counted, of_sale=counted.items())
        counted |= {key: refund.sale_key for key, refund in decisions.counted.items()}
        for key, refunds in decisions.added.items():
            sales[key] = replace(sales[key], refunds=(*sales[key].refunds, *refunds))
        for item, result in zip(group, decisions.results, strict=True):
            cents = int(item.refund.amount * 100)
            if item.refund.refund_id in model:
                is_same = model[item.refund.refund_id] == item.transaction_id
                assert result.status is (Status.DUPLICATE if is_same else None)
            elif cents <= refundable.get(item.transaction_id, 0):
                assert result.status is Status.ACCEPTED
                model[item.refund.refund_id] = item.transaction_id
                refundable[item.transaction_id] -= cents
            else:
                assert result.status is None
    assert {key[1]: int(sale.refundable * 100) for key, sale in sales.items()} == refundable
