"""JSON Schemas of costs in answers."""

from __future__ import annotations

from backend.domain.costs.input import COST_FIELDS
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.answer_schemas import answer_object
from backend.rest_api.routes.operation import reference

_COST: dict[str, Schema] = {
    "id": {"type": "string", "description": "Follows from campaign, day and currency."},
    "campaign": {"type": "string"},
    "day": COST_FIELDS["day"].schema(),
    "amount": {"type": "string", "description": "In the main unit, with all decimals of the currency."},
    "currency": {"type": "string"},
    "told_at": {"type": "string", "format": "date-time", "description": "UTC, in whole seconds."},
}
_COUNT: Schema = {"type": "integer", "minimum": 0}
COST_SCHEMAS: dict[str, Schema] = {
    "Cost": answer_object(**_COST),
    "CostList": {
        "type": "object",
        "required": ["costs", "next_cursor"],
        "properties": {
            "costs": {"type": "array", "items": reference("Cost")},
            "next_cursor": {"type": ["string", "null"], "description": "Null: there are no more."},
        },
    },
    "ToldCosts": {
        "type": "object",
        "required": ["new", "replaced", "unchanged", "notes"],
        "properties": {
            "new": _COUNT,
            "replaced": _COUNT | {"description": "Another amount was told of them before."},
            "unchanged": _COUNT | {"description": "The same amount was told of them before."},
            "notes": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Campaigns that no link and no visit has, each with the one it is most like.",
            },
        },
    },
}
