"""Costs as answers show them."""

from __future__ import annotations

from typing import Any

from backend.domain.costs.cost import Cost
from backend.domain.fields.json_times import time_json
from backend.domain.fields.money import minor_digits


def cost_json(cost: Cost) -> dict[str, Any]:
    """The cost, its amount as a text with all decimals of its currency."""
    told = cost.told
    return {
        "id": told.id,
        "campaign": told.campaign,
        "day": told.day.isoformat(),
        "amount": f"{told.amount:.{minor_digits(told.currency)}f}",
        "currency": told.currency,
        "told_at": time_json(cost.told_at),
    }
