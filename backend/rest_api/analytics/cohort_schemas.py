"""JSON Schemas of answers about customers over time."""

from __future__ import annotations

from backend.domain.fields.rules import Schema
from backend.rest_api.routes.answer_schemas import answer_object
from backend.rest_api.routes.operation import reference

_COUNT: Schema = {"type": "integer", "minimum": 0}
_SECONDS: Schema = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]}
_AMOUNTS: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["currency", "amount"],
        "properties": {"currency": {"type": "string"}, "amount": {"type": "string"}},
    },
}
_FIGURES: dict[str, Schema] = {
    "customers": _COUNT,
    "conversions": _COUNT,
    "revenue": _AMOUNTS,
    "refunds": _AMOUNTS,
    "net_revenue": _AMOUNTS,
}
_PARTIAL: dict[str, Schema] = {"partial": {"type": "boolean"}}


COHORT_SCHEMAS: dict[str, Schema] = {
    "SaleFigures": answer_object(**_FIGURES),
    "CohortWeek": answer_object(**{"week": _COUNT} | _PARTIAL | _FIGURES),
    "Cohort": answer_object(
        week={"type": "string", "format": "date", "description": "The first day of the week."},
        customers=_COUNT,
        **_PARTIAL,
        weeks={"type": "array", "items": reference("CohortWeek")},
    ),
    "CohortTable": answer_object(
        cohorts={"type": "array", "items": reference("Cohort")},
        notes={"type": "array", "items": {"type": "string"}},
    ),
    "TimeToSale": answer_object(
        conversions=_COUNT,
        median_seconds=_SECONDS,
        p90_seconds=_SECONDS,
        buckets={
            "type": "array",
            "items": answer_object(
                from_seconds=_COUNT,
                to_seconds={"anyOf": [_COUNT, {"type": "null"}]},
                conversions=_COUNT,
            ),
        },
        not_credited=_COUNT,
    ),
    "NewAndReturning": answer_object(
        **{name: reference("SaleFigures") for name in ("new", "returning", "unknown")}
    ),
}
