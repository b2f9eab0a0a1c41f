"""JSON Schemas of costs in answers."""

from __future__ import annotations

from backend.domain.costs.input import COST_FIELDS
from backend.domain.fields.answer_schemas import COUNT, TEXT, TEXTS, TIME, answer_object
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference

COST_SCHEMAS: dict[str, Schema] = {
    "Cost": answer_object(
        id=TEXT | {"description": "Follows from campaign, day and currency."},
        campaign=TEXT,
        day=COST_FIELDS["day"].schema(),
        amount=TEXT | {"description": "In the main unit, with all decimals of the currency."},
        currency=TEXT,
        told_at=TIME,
    ),
    "CostList": answer_object(
        costs={"type": "array", "items": reference("Cost")},
        next_cursor={"type": ["string", "null"], "description": "Null: there are no more."},
    ),
    "ToldCosts": answer_object(
        new=COUNT,
        replaced=COUNT | {"description": "Another amount was told of them before."},
        unchanged=COUNT | {"description": "The same amount was told of them before."},
        notes=TEXTS
        | {"description": "Campaigns that no link and no visit has, each with the one it is most like."},
    ),
}
