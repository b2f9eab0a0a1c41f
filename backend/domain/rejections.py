"""Calls that can't be understood, as an owner is told of them: what was wrong, and nothing of the call."""

from __future__ import annotations

from dataclasses import dataclass

from backend.domain.calls import Kind
from backend.domain.errors import InvalidField, MissingField

# The kinds of what was rejected before its kind was known.
UNKNOWN_KIND = "unknown"
BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Rejection:
    """What was wrong: a field of a kind of call, and the rule that it broke. `rule` completes a sentence
    that begins with the field's name; both are the service's own words."""

    kind: str
    field: str
    rule: str


def rejection_of(value: object, error: InvalidField | MissingField) -> Rejection:
    """Why this JSON value is no call."""
    kind = value.get("kind") if isinstance(value, dict) else None
    is_known = isinstance(kind, str) and kind in set(Kind)
    return Rejection(str(kind) if is_known else UNKNOWN_KIND, error.field, error.rule)
