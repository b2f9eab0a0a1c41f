"""The form of a new funnel: up to eight steps, each with an event's name and a filter. It needs no script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.dashboard.analytics.view import FILTERS
from backend.dashboard.frame import form as sent_form
from backend.dashboard.frame.labels import LABELS
from backend.domain.analytics.funnels.funnel import DEFAULT_WITHIN_DAYS, MOST_STEPS, FunnelStepKind
from backend.domain.analytics.funnels.saved import SAVED_FIELDS
from backend.domain.analytics.query import Field
from backend.domain.errors import FieldError
from backend.domain.fields.rules import parse_fields
from backend.domain.sales.credit_rules import CreditTo

# What can be chosen for a step, in order.
KINDS = {
    "": "No step",
    FunnelStepKind.CLICK.value: "Click on a link",
    FunnelStepKind.LEAD.value: "Lead",
    FunnelStepKind.EVENT.value: "Event",
    FunnelStepKind.CONVERSION.value: "Conversion",
}
PEOPLE = {CreditTo.DEVICE.value: "Devices", CreditTo.CUSTOMER.value: "Customers, on all their devices"}
ORDERS = {"yes": "In this order", "no": "In any order"}
NUMBERS = range(1, MOST_STEPS + 1)
# The form's field for a part of a step.
_PARTS = {"": "kind", "kind": "kind", "name": "event", "filters": "value"}
_IN_STEP = re.compile(r"steps\[(\d+)\](?:\.(kind|name|filters))?")


@dataclass(slots=True)
class FunnelForm:
    """The texts of the form's fields, and the problem of each that is wrong."""

    fields: Mapping[str, str]
    problems: dict[str, str] = field(default_factory=dict)

    @classmethod
    def empty(cls) -> FunnelForm:
        """A form that asks from clicks to conversions."""
        kinds = {"kind_1": FunnelStepKind.CLICK.value, "kind_2": FunnelStepKind.CONVERSION.value}
        return cls({**dict.fromkeys(_names(), ""), "within_days": str(DEFAULT_WITHIN_DAYS)} | kinds)

    @classmethod
    def sent(cls) -> FunnelForm:
        """The form of the current request."""
        return cls({name: sent_form.field(name) for name in _names()})

    def parsed(self) -> dict[str, Any]:
        """The fields of a saved funnel, as SAVED_FIELDS give them. `problems` says what is wrong."""
        filled = self._filled
        if len(filled) == 1:
            self.problems["kind_2"] = "is needed: a funnel has at least two steps"
        elif not filled:
            self.problems["kind_1"] = "is needed"
        if self.problems:
            return {}
        errors: list[FieldError] = []
        parsed = parse_fields(SAVED_FIELDS, self._body(), errors)
        for error in errors:
            for each in (error, *error.others):
                self.say(each)
        return parsed

    def say(self, error: FieldError) -> None:
        """Note the problem beside the field of the form that it is about."""
        name, filled = error.field, self._filled
        if found := _IN_STEP.match(error.field):
            name = f"{_PARTS[found[2] or '']}_{filled[int(found[1])]}"
        self.problems.setdefault({"steps": "kind_1", "group_by": "name"}.get(name, name), error.rule)

    @property
    def most_shown(self) -> int:
        """How many steps are shown at first: four, or all up to the last that is filled in."""
        return max([4, *self._filled])

    @property
    def _filled(self) -> list[int]:
        """The numbers of the steps that are filled in."""
        return [number for number in NUMBERS if any(self.fields[name] for name in _of_step(number))]

    def _body(self) -> dict[str, object]:
        fields = self.fields
        days = fields["within_days"]
        return {
            "name": fields["name"],
            "steps": [self._step(number) for number in self._filled],
            "by": fields["by"] or CreditTo.DEVICE.value,
            "within_days": int(days) if re.fullmatch(r"[0-9]{1,9}", days) else days,
            "ordered": fields["ordered"] != "no",
        }

    def _step(self, number: int) -> dict[str, object]:
        kind, event, by, value = (self.fields[name] for name in _of_step(number))
        filters = {by: [value or None]} if by else {}
        return {"kind": kind or None, "name": event or None, "filters": filters}


def _of_step(number: int) -> tuple[str, ...]:
    return tuple(f"{part}_{number}" for part in ("kind", "event", "field", "value"))


def _names() -> list[str]:
    of_steps = [name for number in NUMBERS for name in _of_step(number)]
    return ["name", "by", "within_days", "ordered", *of_steps]


FORM_LABELS: Mapping[str, str] = {
    **LABELS,
    "within_days": "Within days",
    "by": "Who",
    "ordered": "Order",
    **{f"kind_{number}": f"Step {number}" for number in NUMBERS},
    **{f"event_{number}": f"Event's name in step {number}" for number in NUMBERS},
    **{f"value_{number}": f"Filter of step {number}" for number in NUMBERS},
}
FILTER_FIELDS = (*FILTERS, Field.OUTCOME)
