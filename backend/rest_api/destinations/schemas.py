"""JSON Schema of the rules for destinations."""

from __future__ import annotations

from backend.domain.fields.answer_schemas import TEXT, answer_object
from backend.domain.fields.rules import Schema

DESTINATION_SCHEMAS: dict[str, Schema] = {
    "DestinationRules": answer_object(
        allowed={
            "type": "array",
            "items": TEXT,
            "description": "If there are any, links lead nowhere else.",
        },
        refused={"type": "array", "items": TEXT, "description": "Links lead there never."},
    ),
}
