"""JSON Schema in words."""

from __future__ import annotations

import pytest

from backend.domain.fields.rules import Schema
from backend.rest_api.openapi.rule_in_words import rule_in_words

EMPTY = {"type": "string", "maxLength": 0}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "boolean"}, "true or false"),
        ({"type": "string", "format": "uuid"}, "UUID"),
        ({"type": "string", "enum": ["api_user", "sdk"]}, "api_user or sdk"),
        ({"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
         "whole number, from 1 to 100, 20 when absent"),
        ({"type": ["string", "null"], "description": "The link's id."}, "text or null, The link's id"),
        ({"anyOf": [{"type": "integer", "enum": [1, 2]}, {"type": "null"}]}, "1 or 2; or null"),
        ({"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}, EMPTY]},
         "text, at most 9 characters; or null or empty"),
        ({"anyOf": [{"type": "array", "maxItems": 200}, {"type": "object", "required": ["a", "b"]}]},
         "list, at most 200; or JSON object with a and b"),
        ({"type": "object", "properties": {"not": {"type": "array", "items": {"type": ["string", "null"]}}},
          "required": ["not"], "additionalProperties": False},
         '{"not": list of text or null}'),
        ({"anyOf": [{"$ref": "#/components/schemas/AnalyticsFilters"}, {"type": "null"}]},
         "AnalyticsFilters; or null"),
        ({"anyOf": [{"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}]}, "text"),
        ({"anyOf": [{"anyOf": [{"type": "string", "pattern": "a"}, {"type": "string"}]}, {"type": "null"}]},
         "text; or null"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Yours."}, "text; or null. Yours"),
        ({"type": "string", "const": "create"}, "create"),
        ({"oneOf": [{"$ref": "#/components/schemas/Lead"}, {"$ref": "#/components/schemas/LeadList"}]},
         "Lead or LeadList"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Lead"}, "maxItems": 1000},
         "list of Lead, at most 1,000"),
    ],
)  # fmt: skip
def test_a_rule(schema: Schema, words: str) -> None:
    """Each kind of rule reads as a sentence's part."""
    assert rule_in_words(schema) == words
