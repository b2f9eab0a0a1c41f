"""The fields of a cost that its organization tells, and their rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from backend.domain.costs.cost import END_DAY, FIRST_DAY, LONGEST_CAMPAIGN, MOST_AT_ONCE, ToldCost
from backend.domain.errors import (
    FieldError,
    InvalidField,
    MissingField,
    collect_errors,
    raise_all,
    unknown_fields,
)
from backend.domain.fields.money import rounded
from backend.domain.fields.rules import Rule, Schema, Text, parse_fields, parse_string
from backend.domain.visitors.call_fields import Amount, CurrencyCode


class Day:
    """A calendar day, which has no time zone."""

    PATTERN = r"\d{4}-\d{2}-\d{2}"
    _SHAPE = re.compile(PATTERN, re.ASCII)

    def parse(self, field: str, value: object) -> date:
        """The day. Raises InvalidField."""
        text = parse_string(field, value)
        try:
            day = date.fromisoformat(text) if self._SHAPE.fullmatch(text) else None
        except ValueError:
            day = None
        if day is None:
            raise InvalidField(field, "must be a day such as 2026-03-01")
        if not FIRST_DAY <= day < END_DAY:
            raise InvalidField(field, f"must be between {FIRST_DAY} and {END_DAY}")
        return day

    def schema(self) -> Schema:
        """JSON Schema of a day."""
        return {"type": "string", "pattern": f"^{self.PATTERN}$", "example": "2026-03-01"}


class CampaignName:
    """The name of a campaign, as links have it in utm_campaign. Blanks around it do not count."""

    _RULE = Text(LONGEST_CAMPAIGN)

    def parse(self, field: str, value: object) -> str:
        """The name. Raises InvalidField."""
        return self._RULE.parse(field, value).strip()

    def schema(self) -> Schema:
        """JSON Schema of the name."""
        return self._RULE.schema()


COST_FIELDS: Mapping[str, Rule[Any]] = {
    "campaign": CampaignName(),
    "day": Day(),
    "amount": Amount(),
    "currency": CurrencyCode(),
}
COST_REQUIRED = tuple(COST_FIELDS)


def told_cost(fields: Mapping[str, Any]) -> ToldCost:
    """The cost of these fields, parsed by COST_FIELDS; its amount is rounded to the currency's decimals."""
    currency = fields["currency"]
    return ToldCost(fields["campaign"], fields["day"], rounded(fields["amount"], currency), currency)


def parse_cost(fields: Mapping[str, object], prefix: str = "") -> ToldCost:
    """The cost in these fields. Raises the errors of all fields, with `prefix` before their names."""
    errors = unknown_fields(fields, COST_FIELDS, prefix)
    errors += [MissingField(prefix + name) for name in COST_REQUIRED if fields.get(name) is None]
    given = {name: value for name, value in fields.items() if value is not None}
    parsed = parse_fields(COST_FIELDS, given, errors, prefix)
    raise_all(errors)
    return told_cost(parsed)


class CostList:
    """A list of costs, none of which is told twice."""

    def parse(self, field: str, value: object) -> list[ToldCost]:
        """The costs. Raises the errors of all of them."""
        if not isinstance(value, list):
            raise InvalidField(field, "must be a list")
        if not 1 <= len(value) <= MOST_AT_ONCE:
            raise InvalidField(field, f"must have from 1 to {MOST_AT_ONCE:,} entries")
        errors: list[FieldError] = []
        costs: list[ToldCost] = []
        for number, entry in enumerate(value):
            with collect_errors(errors):
                if not isinstance(entry, dict):
                    raise InvalidField(f"{field}[{number}]", "must be a JSON object")
                costs.append(parse_cost(entry, f"{field}[{number}]."))
        raise_all(errors)
        check_once(costs, lambda number: f"{field}[{number}]")
        return costs

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        entry = {
            "type": "object",
            "additionalProperties": False,
            "required": list(COST_REQUIRED),
            "properties": {name: rule.schema() for name, rule in COST_FIELDS.items()},
        }
        return {"type": "array", "minItems": 1, "maxItems": MOST_AT_ONCE, "items": entry}


def told_before(costs: Sequence[ToldCost]) -> dict[int, int]:
    """The costs, by number, that are of the campaign, day and currency of an earlier one: its number."""
    first: dict[str, int] = {}
    return {
        number: first[cost.id]
        for number, cost in enumerate(costs)
        if first.setdefault(cost.id, number) != number
    }


def check_once(costs: Sequence[ToldCost], name: Callable[[int], str]) -> None:
    """Raise InvalidField for costs of one campaign, day and currency: which of them counts is not said."""
    raise_all(
        [
            InvalidField(name(number), f"is of the campaign, day and currency of {name(earlier)}")
            for number, earlier in told_before(costs).items()
        ]
    )
