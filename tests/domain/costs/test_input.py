"""The rules of told costs."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from backend.domain.costs.cost import ToldCost
from backend.domain.costs.input import CostList
from backend.domain.errors import FieldError

TOLD = {"campaign": " spring ", "day": "2026-03-01", "amount": Decimal("12.345"), "currency": "eur"}


def test_what_is_told_has_one_form() -> None:
    """Blanks around a campaign and the case of a currency don't count, and amounts have its decimals."""
    (cost,) = CostList().parse("costs", [TOLD])
    assert cost == ToldCost("spring", date(2026, 3, 1), Decimal("12.34"), "EUR")
    (yen,) = CostList().parse("costs", [TOLD | {"amount": 12, "currency": "JPY"}])
    assert yen.amount == Decimal(12)
    assert yen.id != cost.id
    assert ToldCost("spring", date(2026, 3, 1), Decimal(5), "EUR").id == cost.id


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"campaign": "  "}, "costs[0].campaign must not be empty"),
        ({"campaign": None}, "costs[0].campaign field is required"),
        ({"day": "2026-02-30"}, "costs[0].day must be a day such as 2026-03-01"),
        ({"day": "2026-03-01T00:00:00Z"}, "costs[0].day must be a day such as 2026-03-01"),
        ({"amount": Decimal("-0.01")}, "costs[0].amount must be a finite number of 0 or more"),
        (
            {"amount": "1,2"},
            "costs[0].amount must be a number, in major units, or plain text such as 59.90",
        ),
        ({"currency": "EURO"}, "costs[0].currency must be an ISO 4217 currency code, such as EUR"),
        ({"source": "ads"}, "costs[0].source is not a field of this request"),
    ],
)
def test_a_refusal_names_entry_and_field(changes: dict[str, object], message: str) -> None:
    """So that it is found among a thousand."""
    with pytest.raises(FieldError) as refused:
        CostList().parse("costs", [TOLD | changes])
    assert f"{refused.value.field} {refused.value.rule}" == message


def test_nothing_is_told_twice_at_once() -> None:
    """Which of two amounts counts would depend on their order."""
    with pytest.raises(FieldError) as refused:
        CostList().parse("costs", [TOLD, TOLD | {"campaign": "spring", "currency": "EUR", "amount": 1}])
    assert refused.value.field == "costs[1]"
    assert refused.value.rule == "is of the campaign, day and currency of costs[0]"
