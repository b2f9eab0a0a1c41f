"""Parameters of operations: how each is read, and how the OpenAPI document shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backend.domain.fields.rules import Rule, Schema
from backend.json_api.error_table import ErrorRow


@dataclass(frozen=True, slots=True)
class PathParameter:
    """A part of a path. `parse` makes the view's argument of its text, or raises ApiError; `errors` are those
    of every operation that has the parameter, first the one for an item that the organization does not have
    (ItemUnknown), where it names one."""

    name: str
    schema: Schema
    meaning: str
    errors: tuple[ErrorRow, ...] = ()
    parse: Callable[[str], Any] = str

    def described(self) -> Schema:
        """The parameter, as OpenAPI describes it."""
        return _described(self.name, "path", self.schema, self.meaning, is_required=True)


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A parameter of a query string, and the rule that its text is parsed by.

    `default` only describes what its absence means, where the rule does not.
    """

    rule: Rule[Any]
    meaning: str
    is_required: bool = False
    default: str | None = None

    def described(self, name: str) -> Schema:
        """The parameter, as OpenAPI describes it."""
        schema = self.rule.schema() | ({"default": self.default} if self.default else {})
        return _described(name, "query", schema, self.meaning, is_required=self.is_required)


def header_parameter(name: str, schema: Schema, meaning: str) -> Schema:
    """An optional header of a request, as OpenAPI describes it."""
    return _described(name, "header", schema, meaning, is_required=False)


def _described(name: str, place: str, schema: Schema, meaning: str, *, is_required: bool) -> Schema:
    return {
        "name": name,
        "in": place,
        "required": is_required,
        "description": meaning,
        "schema": schema,
    }
