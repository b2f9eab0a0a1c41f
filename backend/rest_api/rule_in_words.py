"""Describes a JSON Schema in a few words, for the API's HTML page."""

from __future__ import annotations

from backend.domain.field_rules import Schema

_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "JSON object",
    "array": "list",
    "null": "null",
}
_FORMATS = {"uri": "http or https URL", "uuid": "UUID"}


def rule_in_words(schema: Schema) -> str:
    """What the schema accepts, such as "text, at most 1,024 characters; or null or empty"."""
    first, *others = schema.get("anyOf", [schema])
    words = ", ".join(filter(None, [_kind(first), *_bounds(first)]))
    also = " or ".join("null" if other["type"] == "null" else "empty" for other in others)
    return f"{words}; or {also}" if also else words


def _kind(schema: Schema) -> str:
    if "enum" in schema:
        return " or ".join(str(value) for value in schema["enum"])
    named = schema.get("type", [])
    types = [named] if isinstance(named, str) else named
    return _FORMATS.get(schema.get("format", "")) or " or ".join(_TYPES[name] for name in types)


def _bounds(schema: Schema) -> list[str]:
    bounds = []
    if "maxLength" in schema:
        bounds.append(f"at most {schema['maxLength']:,} characters")
    if "minimum" in schema:
        bounds.append(f"from {schema['minimum']:,} to {schema['maximum']:,}")
    if "default" in schema:
        bounds.append(f"{schema['default']} when absent")
    return bounds + ([schema["description"].rstrip(".")] if "description" in schema else [])
