"""Parts of bodies that several operations take: the document describes each once, by its name.

The rules of fields describe themselves as a whole, and know nothing of the document.
"""

from __future__ import annotations

from typing import Any

from backend.domain.analytics.filters import Filters
from backend.domain.analytics.funnels.input import FunnelSteps
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference

_PARTS: dict[str, Schema] = {
    "FunnelStep": FunnelSteps().schema()["items"],
    "AnalyticsFilters": Filters().schema(),
}


def shared_part_schemas() -> dict[str, Schema]:
    """The parts by their names in the components of the document; those inside others by reference."""
    return {name: _inside(part) for name, part in _PARTS.items()}


def with_references(schema: Any) -> Any:
    """The schema, with a reference in the place of each part. What the schema says of a part stays there."""
    if not isinstance(schema, dict):
        return [with_references(inner) for inner in schema] if isinstance(schema, list) else schema
    rules = {keyword: rule for keyword, rule in schema.items() if keyword != "description"}
    for name, part in _PARTS.items():
        if rules == part:
            return reference(name) | {keyword: schema[keyword] for keyword in schema.keys() - rules.keys()}
    return _inside(schema)


def _inside(schema: Schema) -> Schema:
    return {keyword: with_references(rule) for keyword, rule in schema.items()}
