"""JSON Schemas of costs in answers."""

from __future__ import annotations

from backend.domain.fields.answer_schemas import COUNT, TEXTS, answer_object
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference

COST_SCHEMAS: dict[str, Schema] = {
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
