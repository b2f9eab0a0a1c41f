"""JSON Schemas of answers about customers over time."""

from __future__ import annotations

from backend.domain.fields.rules import Schema
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


def _object(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}


COHORT_SCHEMAS: dict[str, Schema] = {
    "SaleFigures": _object(_FIGURES),
    "CohortWeek": _object({"week": _COUNT} | _PARTIAL | _FIGURES),
    "Cohort": _object(
        {
            "week": {"type": "string", "format": "date", "description": "The first day of the week."},
            "customers": _COUNT,
            **_PARTIAL,
            "weeks": {"type": "array", "items": reference("CohortWeek")},
        }
    ),
    "CohortTable": _object(
        {
            "cohorts": {"type": "array", "items": reference("Cohort")},
            "notes": {"type": "array", "items": {"type": "string"}},
        }
    ),
    "TimeToSale": _object(
        {
            "conversions": _COUNT,
            "median_seconds": _SECONDS,
            "p90_seconds": _SECONDS,
            "buckets": {
                "type": "array",
                "items": _object(
                    {
                        "from_seconds": _COUNT,
                        "to_seconds": {"anyOf": [_COUNT, {"type": "null"}]},
                        "conversions": _COUNT,
                    }
                ),
            },
            "not_credited": _COUNT,
        }
    ),
    "NewAndReturning": _object({name: reference("SaleFigures") for name in ("new", "returning", "unknown")}),
}
