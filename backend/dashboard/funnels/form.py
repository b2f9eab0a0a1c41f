"""The form of a funnel: two to eight steps, each with an event's name and a filter. It needs no script:
steps are added, removed and moved by buttons that send the form and get it again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from backend.dashboard.frame import form as sent_form
from backend.dashboard.frame.labels import LABELS
from backend.domain.analytics.funnels.funnel import (
    DEFAULT_WITHIN_DAYS,
    LEAST_STEPS,
    MOST_STEPS,
    FunnelStep,
    FunnelStepKind,
)
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS, SavedFunnel
from backend.domain.errors import FieldError
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import LinkId
from backend.domain.sales.credit_rules import CreditTo

# What can be chosen for a step, in order.
KINDS = {
    FunnelStepKind.CLICK.value: "Click on a link",
    FunnelStepKind.LEAD.value: "Lead",
    FunnelStepKind.EVENT.value: "Event",
    FunnelStepKind.CONVERSION.value: "Conversion",
}
PEOPLE = {CreditTo.DEVICE.value: "Devices", CreditTo.CUSTOMER.value: "Customers, on all their devices"}
ORDERS = {"yes": "In this order", "no": "In any order"}
_OF_ALL = ("name", "by", "within_days", "ordered")
# The form's field for a part of a step.
_PARTS = {"": "kind", "kind": "kind", "name": "event", "filters": "value"}
_IN_STEP = re.compile(r"steps\[(\d+)\](?:\.(kind|name|filters))?")
_ACTION = re.compile(r"(remove|up|down)-([1-8])")


@dataclass(slots=True)
class StepFields:
    """The texts of a step's fields: its kind, the event's name, and a filter's field and value."""

    kind: str = ""
    event: str = ""
    field: str = ""
    value: str = ""


@dataclass(slots=True)
class FunnelForm:
    """The texts of the form's fields, and the problem of each that is wrong."""

    fields: Mapping[str, str]
    steps: list[StepFields]
    problems: dict[str, str] = field(default_factory=dict)

    @classmethod
    def empty(cls) -> FunnelForm:
        """A form that asks from clicks to conversions."""
        steps = [StepFields(FunnelStepKind.CLICK), StepFields(FunnelStepKind.CONVERSION)]
        usual = {"name": "", "by": CreditTo.DEVICE.value, "ordered": "yes"}
        return cls(usual | {"within_days": str(DEFAULT_WITHIN_DAYS)}, steps)

    @classmethod
    def of(cls, saved: SavedFunnel) -> FunnelForm | None:
        """A form with the funnel in it; None for one that has more filters than the form has room for."""
        funnel = saved.funnel
        steps = [_fields_of(step) for step in funnel.steps]
        fields = {
            "name": saved.name,
            "by": funnel.by.value,
            "within_days": str(funnel.within_days),
            "ordered": "yes" if funnel.is_ordered else "no",
        }
        whole = [step for step in steps if step is not None]
        return cls(fields, whole) if len(whole) == len(steps) else None

    @classmethod
    def sent(cls) -> FunnelForm:
        """The form of the current request."""
        texts = {name: sent_form.field(name) for name in _OF_ALL}
        count = sent_form.field("steps")
        number = int(count) if re.fullmatch("[1-8]", count) else LEAST_STEPS
        return cls(texts, [_sent_step(place) for place in range(1, max(number, LEAST_STEPS) + 1)])

    @property
    def texts(self) -> Mapping[str, str]:
        """The text of every field, by its name in the page."""
        of_steps = {
            f"{part}_{number}": text
            for number, step in enumerate(self.steps, 1)
            for part, text in asdict(step).items()
        }
        return {**self.fields, "steps": str(len(self.steps)), **of_steps}

    def act(self, action: str) -> None:
        """Add a step, or remove or move one, such as "up-3". What is not possible changes nothing."""
        if action == "add" and len(self.steps) < MOST_STEPS:
            self.steps.append(StepFields(FunnelStepKind.EVENT))
            return
        found = _ACTION.fullmatch(action)
        if found is None or int(found[2]) > len(self.steps):
            return
        verb, place = found[1], int(found[2]) - 1
        if verb == "remove":
            if len(self.steps) > LEAST_STEPS:
                del self.steps[place]
            return
        other = place + (-1 if verb == "up" else 1)
        if 0 <= other < len(self.steps):
            self.steps[place], self.steps[other] = self.steps[other], self.steps[place]

    def parsed(self, link_ids: Mapping[str, LinkId]) -> dict[str, Any]:
        """The fields of a saved funnel, as SAVED_FUNNELS.told give them. `problems` says what is wrong.

        `link_ids` has the ids of links by what is typed for them.
        """
        errors: list[FieldError] = []
        parsed = parse_fields(SAVED_FUNNELS.told, self._body(link_ids), errors)
        for error in errors:
            for wrong in error.every:
                self.say(wrong)
        return parsed

    def say(self, error: FieldError) -> None:
        """Note the problem beside the field of the form that it is about."""
        name = error.field
        if found := _IN_STEP.match(error.field):
            name = f"{_PARTS[found[2] or '']}_{int(found[1]) + 1}"
        self.problems.setdefault({"steps": "kind_1", "group_by": "name"}.get(name, name), error.rule)

    def _body(self, link_ids: Mapping[str, LinkId]) -> dict[str, object]:
        fields = self.fields
        days = fields["within_days"]
        return {
            "name": fields["name"],
            "steps": [_step_body(step, link_ids) for step in self.steps],
            "by": fields["by"] or CreditTo.DEVICE.value,
            "within_days": int(days) if re.fullmatch(r"[0-9]{1,9}", days) else days,
            "ordered": fields["ordered"] != "no",
        }


def _sent_step(number: int) -> StepFields:
    return StepFields(*(sent_form.field(f"{part}_{number}") for part in ("kind", "event", "field", "value")))


def _step_body(step: StepFields, link_ids: Mapping[str, LinkId]) -> dict[str, object]:
    """The step as REST takes it. An event's name that was typed before another kind was chosen is left out:
    browsers don't show it any more."""
    value = link_ids.get(step.value, step.value) if step.field == "link" else step.value
    filters = {step.field: [value or None]} if step.field else {}
    name = step.event if step.kind == FunnelStepKind.EVENT else ""
    return {"kind": step.kind or None, "name": name or None, "filters": filters}


def _fields_of(step: FunnelStep) -> StepFields | None:
    """The step's texts; None where it has more than one filter, or one that is not of one value."""
    kind, event = step.kind.value, step.name or ""
    if not step.filters:
        return StepFields(kind, event)
    (by, chosen), *more = step.filters.items()
    if more or not isinstance(chosen, frozenset) or len(chosen) > 1:
        return None
    return StepFields(kind, event, by.value, next(iter(chosen)) or "")


FORM_LABELS: Mapping[str, str] = {
    **LABELS,
    "within_days": "Within days of the first step",
    "by": "Who",
    "ordered": "Order",
    **{f"kind_{number}": f"Step {number}" for number in range(1, MOST_STEPS + 1)},
    **{f"event_{number}": f"Event's name in step {number}" for number in range(1, MOST_STEPS + 1)},
    **{f"value_{number}": f"Filter of step {number}" for number in range(1, MOST_STEPS + 1)},
}
