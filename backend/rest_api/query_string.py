"""Reads query strings by rules, as bodies are read: whatever is unknown is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quart import request

from backend.domain.errors import InvalidField, shown_name
from backend.domain.field_rules import Rule
from backend.json_api import error_table
from backend.json_api.refusal import Refusal


def read_query(rules: Mapping[str, Rule[Any]]) -> dict[str, Any]:
    """The parameters of the current request, each parsed by its rule; only those that are given.

    Raises Refusal for one that has no rule, breaks its rule or is given twice.
    """
    given = {}
    for name, values in request.args.lists():
        try:
            given[name] = _parse(name, values, rules)
        except InvalidField as error:
            raise query_refusal(error.field, error.rule) from None
    return given


def query_refusal(name: str, rule: str) -> Refusal:
    """The refusal of a query parameter. `rule` completes a sentence that starts with its name."""
    shown = shown_name(name)
    return Refusal(error_table.QUERY_INVALID, message=f"{shown} {rule}", field=shown)


def _parse(name: str, values: list[str], rules: Mapping[str, Rule[Any]]) -> Any:
    if name not in rules:
        raise InvalidField(name, "is not a parameter of this request")
    if len(values) > 1:
        raise InvalidField(name, "must be given once")
    return rules[name].parse(name, values[0])
