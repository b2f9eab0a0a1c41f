"""Describes a JSON Schema in a few words, for the API's HTML page."""

from __future__ import annotations

from backend.domain.fields.rules import Schema

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
    if "oneOf" in schema:
        return " or ".join(rule_in_words(choice) for choice in schema["oneOf"])
    first, *others = dict.fromkeys(map(_choice, _choices(schema)))
    words = f"{first}; or {' or '.join(others)}" if others else first
    return ". ".join([words, schema["description"].rstrip(".")]) if _says_more(schema) else words


def _choices(schema: Schema) -> list[Schema]:
    """What may be chosen from, also within what may be chosen."""
    if "anyOf" not in schema:
        return [schema]
    return [choice for choices in schema["anyOf"] for choice in _choices(choices)]


def _choice(schema: Schema) -> str:
    if schema.get("maxLength") == 0:
        return "empty"
    return ", ".join(filter(None, [_kind(schema), *_bounds(schema)]))


def _says_more(schema: Schema) -> bool:
    """Whether the schema of a choice has a description of its own, besides those of what is chosen from."""
    return "anyOf" in schema and "description" in schema


def _kind(schema: Schema) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return str(schema["const"])
    if "enum" in schema:
        return " or ".join(str(value) for value in schema["enum"])
    if items := schema.get("items"):
        return f"list of {_kind(items) if 'type' in items else rule_in_words(items)}"
    if required := schema.get("required"):
        return _only_property(schema) or f"JSON object with {' and '.join(required)}"
    named = schema.get("type", [])
    types = [named] if isinstance(named, str) else named
    return _FORMATS.get(schema.get("format", "")) or " or ".join(_TYPES[name] for name in types)


def _only_property(schema: Schema) -> str:
    """The object as it is written, if it has one property and never another; else empty."""
    properties = list(schema.get("properties", {}).items())
    if len(properties) != 1 or schema.get("additionalProperties", True):
        return ""
    [(name, rule)] = properties
    return f'{{"{name}": {rule_in_words(rule)}}}'


def _bounds(schema: Schema) -> list[str]:
    bounds = []
    if "maxLength" in schema:
        bounds.append(f"at most {schema['maxLength']:,} characters")
    if "maxItems" in schema:
        bounds.append(f"at most {schema['maxItems']:,}")
    if "minimum" in schema:
        bounds.append(f"from {schema['minimum']:,} to {schema['maximum']:,}")
    if "default" in schema:
        bounds.append(f"{schema['default']} when absent")
    return bounds + ([schema["description"].rstrip(".")] if "description" in schema else [])
