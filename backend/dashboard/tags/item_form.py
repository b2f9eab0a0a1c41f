"""Reads the form of a named item, such as a tag, and collects the problems of its fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from backend.dashboard.frame.form import field
from backend.domain.errors import InvalidField, TooManyItems
from backend.domain.fields.item_names import NameTaken
from backend.domain.fields.rules import Rule

Fields = dict[str, str]
# The problem of each invalid field. It completes a sentence that begins with the field's label.
Problems = dict[str, str]


def sent(rules: Mapping[str, Rule[Any]]) -> Fields:
    """The text of each field, from the current request."""
    return {name: field(name) for name in rules}


def parse(
    fields: Fields, rules: Mapping[str, Rule[Any]], problems: Problems, *, required: frozenset[str]
) -> dict[str, Any]:
    """The values of the fields; None for an empty one, unless it is required. Adds errors to `problems`."""
    values = {}
    for name, rule in rules.items():
        try:
            if not fields[name] and name in required:
                raise InvalidField(name, "is required")
            values[name] = rule.parse(name, fields[name]) if fields[name] else None
        except InvalidField as error:
            problems[name] = error.rule
    return values


@contextmanager
def storing(problems: Problems, *, what: str) -> Iterator[None]:
    """Add to `problems` why the storage refuses the item's name."""
    try:
        yield
    except NameTaken:
        problems["name"] = f"is that of another {what}"
    except TooManyItems as error:
        problems[error.field] = error.rule
