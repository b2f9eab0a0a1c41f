"""Reads funnels: from a JSON body, a form or a command line, by the same rules; and writes them as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from backend.domain.analytics import input as query_input
from backend.domain.analytics.filters import Filters
from backend.domain.analytics.funnels.funnel import (
    DEFAULT_WITHIN_DAYS,
    LEAST_STEPS,
    MOST_STEPS,
    MOST_WITHIN_DAYS,
    Funnel,
    FunnelQuery,
    FunnelStep,
    FunnelStepKind,
)
from backend.domain.analytics.input import UpTo, Words, period_of
from backend.domain.analytics.query import Field, Filter, Not, Prefix
from backend.domain.errors import (
    FieldError,
    InvalidField,
    MissingField,
    collect_errors,
    raise_all,
    unknown_fields,
)
from backend.domain.fields.rules import Flag, Rule, Schema, Text, Word, parse_fields
from backend.domain.sales.credit_rules import CreditTo

_LONGEST_NAME = 1024
_STEP_FIELDS: Mapping[str, Rule[Any]] = {
    "kind": Word(FunnelStepKind),
    "name": Text(_LONGEST_NAME, lines=True),
    "filters": Filters(),
}


class FunnelSteps:
    """The steps of a funnel, in their order: objects with a kind and, where wanted, a name and filters."""

    def parse(self, field: str, value: object) -> tuple[FunnelStep, ...]:
        """The steps. Raises InvalidField, with the errors of all steps."""
        if not isinstance(value, list) or not LEAST_STEPS <= len(value) <= MOST_STEPS:
            raise InvalidField(field, f"must be a list of {LEAST_STEPS} to {MOST_STEPS} steps")
        steps: list[FunnelStep] = []
        errors: list[FieldError] = []
        for number, step in enumerate(value):
            with collect_errors(errors):
                steps.append(_step(f"{field}[{number}]", step))
        raise_all(errors)
        return tuple(steps)

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        properties = {name: rule.schema() for name, rule in _STEP_FIELDS.items()}
        properties |= {name: {"anyOf": [properties[name], {"type": "null"}]} for name in ("name", "filters")}
        step = {"type": "object", "properties": properties, "required": ["kind"]}
        return {
            "type": "array",
            "items": step | {"additionalProperties": False},
            "minItems": LEAST_STEPS,
            "maxItems": MOST_STEPS,
        }


def _step(shown: str, value: object) -> FunnelStep:
    if not isinstance(value, dict):
        raise InvalidField(shown, "must be an object with kind, and perhaps name and filters")
    errors = unknown_fields(value, _STEP_FIELDS, f"{shown}.", "is not a field of a step")
    if value.get("kind") is None:
        errors.append(InvalidField(f"{shown}.kind", "is required"))
    present = {name: inner for name, inner in value.items() if inner is not None}
    fields = parse_fields(_STEP_FIELDS, present, errors, f"{shown}.")
    raise_all(errors)
    return FunnelStep(**fields)


# What makes a funnel, and can be saved of it.
FUNNEL_FIELDS: dict[str, Rule[Any]] = {
    "steps": FunnelSteps(),
    "by": Word(CreditTo),
    "within_days": UpTo(MOST_WITHIN_DAYS, DEFAULT_WITHIN_DAYS),
    "ordered": Flag(),
    "group_by": Words(Field, 1, has_event_fields=True),
}
_TIMES = ("from", "to", "period", "timezone", "week_starts")
# What may be asked of one.
FUNNEL_QUERY_FIELDS: dict[str, Rule[Any]] = FUNNEL_FIELDS | {
    name: query_input.FIELDS[name] for name in _TIMES
}


def parse_funnel_query(body: Mapping[str, object], now: datetime) -> FunnelQuery:
    """The funnel in a body, and the period that is asked for. A field that is left out has its default.

    Raises the errors of all fields together, and InvalidField for fields that do not fit each other.
    """
    errors = unknown_fields(body, FUNNEL_QUERY_FIELDS)
    if body.get("steps") is None:
        errors.append(MissingField("steps"))
        body = {name: value for name, value in body.items() if name != "steps"}
    fields = parse_fields(FUNNEL_QUERY_FIELDS, body, errors)
    raise_all(errors)
    return FunnelQuery(funnel=funnel_of(fields), period=period_of(fields, now), now=now)


def funnel_of(fields: Mapping[str, Any], before: Funnel | None = None) -> Funnel:
    """The funnel of these parsed fields; one that is left out is that of the funnel `before`.

    Raises InvalidField.
    """
    values = {name: fields[name] for name in ("steps", "by", "within_days") if name in fields}
    if "ordered" in fields:
        values["is_ordered"] = fields["ordered"]
    if "group_by" in fields:
        values["group_by"] = next(iter(fields["group_by"]), None)
    return replace(before, **values) if before else Funnel(**values)


def funnel_json(funnel: Funnel) -> dict[str, Any]:
    """The fields of the funnel, as FUNNEL_FIELDS takes them."""
    return {
        "steps": [_step_json(step) for step in funnel.steps],
        "by": funnel.by.value,
        "within_days": funnel.within_days,
        "ordered": funnel.is_ordered,
        "group_by": [funnel.group_by.value] if funnel.group_by else [],
    }


def _step_json(step: FunnelStep) -> dict[str, Any]:
    filters = {name.value: _filter_json(chosen) for name, chosen in step.filters.items()}
    return {"kind": step.kind.value, "name": step.name, "filters": filters}


def _filter_json(chosen: Filter) -> object:
    match chosen:
        case Prefix(text):
            return {"prefix": text}
        case Not(values):
            return {"not": _values_json(values)}
    return _values_json(chosen)


def _values_json(values: frozenset[str | None]) -> list[str | None]:
    texts: list[str | None] = [*sorted(value for value in values if value is not None)]
    return [*texts, *([None] if None in values else [])]
