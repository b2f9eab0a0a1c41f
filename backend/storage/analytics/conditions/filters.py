"""Filters of a query as conditions."""

from __future__ import annotations

from backend.domain.analytics.query import Filter, Not, Prefix
from backend.storage.analytics.conditions.parameters import SqlParameters


def condition(chosen: Filter, expression: str, parameters: SqlParameters) -> str:
    """The condition that the value of this expression passes the filter; null stands for no value."""
    match chosen:
        case Prefix(text):
            return f"coalesce(starts_with({expression}, {parameters(text)}), false)"
        case Not(values):
            return f"NOT {_is_one_of(values, expression, parameters)}"
    return _is_one_of(chosen, expression, parameters)


def _is_one_of(values: frozenset[str | None], expression: str, parameters: SqlParameters) -> str:
    """The condition that the expression is one of these values. It is true or false, never null."""
    texts = sorted(value for value in values if value is not None)
    named = ", ".join(map(parameters, texts))
    parts = [f"({expression} IS NOT NULL AND {expression} IN ({named}))"] if texts else []
    parts += [f"{expression} IS NULL"] if None in values else []
    return f"({' OR '.join(parts)})"
