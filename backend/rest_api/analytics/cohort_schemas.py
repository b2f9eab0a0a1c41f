"""JSON Schemas of answers about customers over time."""

from __future__ import annotations

from backend.domain.fields.answer_schemas import COUNT, TEXTS, answer_object, or_null
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference

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
    "customers": COUNT,
    "conversions": COUNT,
    "revenue": _AMOUNTS,
    "refunds": _AMOUNTS,
    "net_revenue": _AMOUNTS,
}
_PARTIAL: dict[str, Schema] = {"partial": {"type": "boolean"}}


COHORT_SCHEMAS: dict[str, Schema] = {
    "SaleFigures": answer_object(**_FIGURES),
    "CohortWeek": answer_object(**{"week": COUNT} | _PARTIAL | _FIGURES),
    "Cohort": answer_object(
        week={"type": "string", "format": "date", "description": "The first day of the week."},
        customers=COUNT,
        **_PARTIAL,
        weeks={"type": "array", "items": reference("CohortWeek")},
    ),
    "CohortTable": answer_object(
        cohorts={"type": "array", "items": reference("Cohort")},
        notes=TEXTS,
    ),
    "TimeToSale": answer_object(
        conversions=COUNT,
        median_seconds=_SECONDS,
        p90_seconds=_SECONDS,
        buckets={
            "type": "array",
            "items": answer_object(
                from_seconds=COUNT,
                to_seconds=or_null(COUNT),
                conversions=COUNT,
            ),
        },
        not_credited=COUNT,
    ),
    "NewAndReturning": answer_object(
        **{name: reference("SaleFigures") for name in ("new", "returning", "unknown")}
    ),
}
