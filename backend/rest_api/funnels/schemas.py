"""What the fields of funnels mean, and the JSON Schemas of questions and answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.funnels.input import FUNNEL_QUERY_FIELDS
from backend.domain.analytics.rows import KIND
from backend.domain.fields.answer_schemas import COUNT, answer_object
from backend.domain.fields.rules import Rule, Schema
from backend.rest_api.analytics.schemas import MEANINGS as QUERY_MEANINGS

MEANINGS: Mapping[str, str] = QUERY_MEANINGS | {
    "steps": "What somebody does, one after another. A click is one that a device's visit told of. name is "
    "the name of an event, which only steps of kind event have. filters are those of queries; leads, events "
    "and conversions have the fields of the touch that gets the credit for them.",
    "by": "Who does it: a device, which is the default, or a customer with all devices.",
    "within_days": "How many days after the first step the others may be.",
    "ordered": "Whether the steps are done in this order, which is the default. If not, they may also be as "
    "many days before the first step.",
    "group_by": "A field of the first step: groups have those whose first step has the same value.",
    "from": "The beginning of the period in which the first step is done, which is included; a date begins "
    "in the time zone. By default 28 days before to.",
    "timezone": "The IANA time zone in which dates begin.",
}


def _schema(fields: Mapping[str, Rule[Any]], *required: str) -> Schema:
    """The schema of a body with these fields."""
    properties = {name: rule.schema() | {"description": MEANINGS[name]} for name, rule in fields.items()}
    schema: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return schema | {"required": list(required)}


FUNNEL_QUERY = _schema(FUNNEL_QUERY_FIELDS, "steps")
_SHARE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_SECONDS: Schema = {"type": ["number", "null"], "minimum": 0}
_STEP: dict[str, Schema] = {
    "count": COUNT | {"description": "Who did this step and those before."},
    "of_first": _SHARE | {"description": "As a share of who did the first step; null of nobody."},
    "of_previous": _SHARE | {"description": "As a share of who did the step before; null of nobody."},
    "stopped": COUNT | {"description": "Who did this step, and not the next one."},
    "median_seconds": _SECONDS | {"description": "Since the step before; null for the first step."},
    "p90_seconds": _SECONDS | {"description": "Nine of ten took at most so long since the step before."},
    "median_seconds_since_first": _SECONDS,
    "p90_seconds_since_first": _SECONDS,
}
_STEPS: Schema = {
    "type": "array",
    "items": answer_object(**_STEP),
}
FUNNEL_SCHEMAS: dict[str, Schema] = {
    "FunnelAnswer": {
        "type": "object",
        "required": ["steps", "notes"],
        "properties": {
            "steps": _STEPS,
            "groups": {
                "type": "array",
                "description": "Where it was grouped by a field: the groups with most people in the first "
                "step. Each has that field, steps, for links also link_name and short_url, and where it has "
                "none of the field's values, perhaps a kind.",
                "items": {
                    "type": "object",
                    "required": ["steps"],
                    "properties": {
                        "steps": _STEPS,
                        KIND: {"type": "string", "description": f"{', '.join(RowKind)}; there may be more."},
                    },
                },
            },
            "notes": {"type": "array", "items": {"type": "string"}},
        },
    },
}
