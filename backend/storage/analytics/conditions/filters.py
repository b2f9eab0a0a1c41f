"""Filters of a query as conditions."""

from __future__ import annotations

from backend.domain.analytics.query import Filter, Not, Prefix
from backend.storage.analytics.conditions.given import Given


def condition(chosen: Filter, expression: str, given: Given) -> str:
    """Whether what this expression gives is left; null stands for what has no value."""
    match chosen:
        case Prefix(text):
            return f"coalesce(starts_with({expression}, {given(text)}), false)"
        case Not(values):
            return f"NOT {_is_one_of(values, expression, given)}"
    return _is_one_of(chosen, expression, given)


def _is_one_of(values: frozenset[str | None], expression: str, given: Given) -> str:
    """Whether the expression is one of these values, never null itself."""
    texts = sorted(each for each in values if each is not None)
    named = ", ".join(map(given, texts))
    parts = [f"({expression} IS NOT NULL AND {expression} IN ({named}))"] if texts else []
    parts += [f"{expression} IS NULL"] if None in values else []
    return f"({' OR '.join(parts)})"
