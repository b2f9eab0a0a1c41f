"""The reasons why calls were rejected, without any content of the calls, for the organization to read."""

from __future__ import annotations

from dataclasses import dataclass

from backend.domain.errors import InvalidField, MissingField
from backend.domain.visitors.calls import Kind

# Shown as kind if a call or batch was rejected before its kind was known.
UNKNOWN_KIND = "unknown"
BATCH = "batch"


@dataclass(frozen=True, slots=True)
class Rejection:
    """The reason: the kind of call (UNKNOWN_KIND if it has none), the field, and the rule that it broke.

    `rule` completes a sentence that starts with the field's name. No text comes from the call itself.
    """

    kind: str
    field: str
    rule: str


def rejection_of(value: object, error: InvalidField | MissingField) -> Rejection:
    """The reason why this JSON value is not a valid call, given the error that `parse_call` raised."""
    kind = value.get("kind") if isinstance(value, dict) else None
    is_known = isinstance(kind, str) and kind in set(Kind)
    return Rejection(str(kind) if is_known else UNKNOWN_KIND, error.field, error.rule)
