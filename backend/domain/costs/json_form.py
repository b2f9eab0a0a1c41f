"""Costs as answers show them."""

from __future__ import annotations

from datetime import date
from typing import Annotated, TypedDict

from backend.domain.costs.cost import Cost
from backend.domain.costs.input import COST_FIELDS
from backend.domain.fields.money import minor_digits
from backend.domain.fields.shapes import JsonForm, TimeText, json_of


class CostJson(TypedDict):
    """What a campaign cost on a day."""

    id: Annotated[str, "Follows from campaign, day and currency."]
    campaign: str
    day: Annotated[str, JsonForm(COST_FIELDS["day"].schema(), date.isoformat)]
    amount: Annotated[str, "In the main unit, with all decimals of the currency."]
    currency: str
    told_at: TimeText


def cost_json(cost: Cost) -> CostJson:
    """The cost, its amount as a text with all decimals of its currency."""
    told = cost.told
    amount = f"{told.amount:.{minor_digits(told.currency)}f}"
    return json_of(CostJson, told, amount=amount, told_at=cost.told_at)
