"""The objects that may stand in a request's body, one by one, for the API's HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from backend.domain.fields.rules import Schema


def described_bodies(body: Schema, components: Mapping[str, Schema]) -> list[tuple[str, Schema]]:
    """The object schemas of a body with their names, outermost first. An object without a name has ""."""
    objects: dict[str, Schema] = {} if "$ref" in body or "oneOf" in body else {"": body}
    names = [*_names(body)]
    while names:
        name = names.pop(0)
        if name not in objects:
            objects[name] = components[name]
            names += _names(components[name])
    return list(objects.items())


def _names(schema: object) -> Iterator[str]:
    """The names of the document's components that a schema refers to."""
    if isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.rpartition("/")[2]
        for part in schema.values():
            yield from _names(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _names(part)
