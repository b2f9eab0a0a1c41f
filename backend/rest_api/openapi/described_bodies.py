"""The parts of a request's body, for the API's HTML page: each object that may stand in it, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from backend.domain.fields.rules import Schema


def described_bodies(body: Schema, components: Mapping[str, Schema]) -> list[tuple[str, Schema]]:
    """The object schemas of a body with their names, outermost first; that of an unnamed one is ""."""
    found: dict[str, Schema] = {} if "$ref" in body or "oneOf" in body else {"": body}
    waiting = [*_names(body)]
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = components[name]
            waiting += _names(components[name])
    return list(found.items())


def _names(schema: object) -> Iterator[str]:
    """The names of the components that a schema refers to."""
    if isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.rpartition("/")[2]
        for each in schema.values():
            yield from _names(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _names(each)
