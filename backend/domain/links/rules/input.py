"""The rules of a link as requests give them, and what each condition may say (extensions, "Links")."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from backend.domain.errors import (
    FieldError,
    InvalidField,
    collect_errors,
    raise_all,
    shown_name,
    unknown_fields,
)
from backend.domain.fields.addresses.destination_templates import DestinationAddress
from backend.domain.fields.countries import countries
from backend.domain.fields.rules import (
    Instant,
    Rule,
    Schema,
    Text,
    Word,
    parse_fields,
    parse_string,
)
from backend.domain.fields.time_zones import TimeZone
from backend.domain.web.client import Platform

MOST_RULES = 50
MOST_VALUES = 250
MOST_PARAMETERS = 10
MOST_VARIANTS = 10
MOST_BYTES = 32 * 1024


class DeviceKind(StrEnum):
    """Whether the SDK has seen a device before."""

    NEW = "new"
    RETURNING = "returning"


@dataclass(frozen=True, slots=True)
class RuleObject:
    """A JSON object with these fields and no others. For an optional one, null means that it is not set."""

    optional: Mapping[str, Rule[Any]]
    required: Mapping[str, Rule[Any]] = field(default_factory=dict)

    def parse(self, field: str, value: object) -> dict[str, Any]:
        """The fields that are set, in the order of their rules. Raises InvalidField, with all errors."""
        if not isinstance(value, dict):
            raise InvalidField(field, "must be a JSON object")
        rules = {**self.required, **self.optional}
        unknown = f"is not a field: possible are {', '.join(rules)}"
        errors = unknown_fields(value, rules, f"{field}.", unknown)
        errors += [
            InvalidField(f"{field}.{name}", "is required")
            for name in self.required
            if value.get(name) is None
        ]
        present = {name: item for name, item in value.items() if item is not None}
        parsed = parse_fields(rules, present, errors, f"{field}.")
        raise_all(errors)
        return parsed

    def schema(self) -> Schema:
        """JSON Schema of the object."""
        optional = {
            name: {"anyOf": [rule.schema(), {"type": "null"}]} for name, rule in self.optional.items()
        }
        required = {name: rule.schema() for name, rule in self.required.items()}
        kept = {"required": list(required)} if required else {}
        return {"type": "object", "properties": required | optional, "additionalProperties": False} | kept


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A list of values, one of which a visit must have. A value that is there twice is kept once."""

    rule: Rule[Any]
    most: int = MOST_VALUES

    def parse(self, field: str, value: object) -> list[Any]:
        """The values. Raises InvalidField."""
        if not isinstance(value, list) or not 1 <= len(value) <= self.most:
            raise InvalidField(field, f"must be a list of 1 to {self.most} values")
        return list(dict.fromkeys(self.rule.parse(field, item) for item in value))

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        return {"type": "array", "items": self.rule.schema(), "minItems": 1, "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text of this form. `meaning` completes "must be"."""

    form: str
    meaning: str

    def parse(self, field: str, value: object) -> str:
        """The text, unchanged. Raises InvalidField."""
        text = parse_string(field, value)
        if not re.fullmatch(self.form, text, re.ASCII):
            raise InvalidField(field, f"must be {self.meaning}")
        return text

    def schema(self) -> Schema:
        """JSON Schema of the text."""
        return {"type": "string", "pattern": f"^({self.form})$"}


class Country:
    """The ISO 3166 code of a country, in letters of either case."""

    def parse(self, field: str, value: object) -> str:
        """The code in capitals. Raises InvalidField."""
        code = parse_string(field, value).upper()
        if code not in countries():
            example = "GB for the United Kingdom" if code == "UK" else "DE"
            raise InvalidField(field, f"must have ISO 3166 codes of countries, such as {example}")
        return code

    def schema(self) -> Schema:
        """JSON Schema of two letters."""
        return {"type": "string", "pattern": "^[A-Za-z]{2}$", "example": "DE"}


class Weekday:
    """A day of the week, from 1 for Monday to 7 for Sunday."""

    def parse(self, field: str, value: object) -> int:
        """The day. Raises InvalidField."""
        if type(value) is not int or not 1 <= value <= 7:
            raise InvalidField(field, "must have whole numbers from 1 (Monday) to 7 (Sunday)")
        return value

    def schema(self) -> Schema:
        """JSON Schema of the number."""
        return {"type": "integer", "minimum": 1, "maximum": 7}


class RuleTime:
    """A time in ISO 8601 with a zone."""

    _RULE = Instant()

    def parse(self, field: str, value: object) -> str:
        """The time in UTC, as text. Raises InvalidField."""
        try:
            moment = self._RULE.parse(field, parse_string(field, value))
        except InvalidField:
            rule = "must be a date, or an ISO 8601 time with a zone, such as 2026-03-01T12:00:00Z"
            raise InvalidField(field, rule) from None
        return moment.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")

    def schema(self) -> Schema:
        """JSON Schema of the time."""
        return self._RULE.schema()


class ZoneName:
    """The name of a time zone."""

    _RULE = TimeZone()

    def parse(self, field: str, value: object) -> str:
        """The name. Raises InvalidField."""
        return self._RULE.parse(field, value).key

    def schema(self) -> Schema:
        """JSON Schema of the name."""
        return self._RULE.schema()


class Hours:
    """Hours of a day by the clock of a time zone, UTC if none is given."""

    _RULE = RuleObject(
        {"timezone": ZoneName()},
        {
            "from": Pattern(r"([01]\d|2[0-3]):[0-5]\d", "a time of day, such as 08:00"),
            "until": Pattern(r"([01]\d|2[0-3]):[0-5]\d|24:00", "a time of day, such as 18:00 or 24:00"),
        },
    )

    def parse(self, field: str, value: object) -> dict[str, str]:
        """The hours. Raises InvalidField."""
        hours = {"timezone": "UTC"} | self._RULE.parse(field, value)
        if hours["from"] == hours["until"]:
            raise InvalidField(f"{field}.until", "must be another time than from")
        return {name: hours[name] for name in ("from", "until", "timezone")}

    def schema(self) -> Schema:
        """JSON Schema of the hours."""
        return self._RULE.schema()


class Parameters:
    """Query parameters by their names: the value that each must have, null where any will do."""

    _NAME = Text(200)
    _VALUE = Text(1024)

    def parse(self, field: str, value: object) -> dict[str, str | None]:
        """The parameters. Raises InvalidField."""
        if not isinstance(value, dict) or not 1 <= len(value) <= MOST_PARAMETERS:
            raise InvalidField(field, f"must be a JSON object of 1 to {MOST_PARAMETERS} parameters")
        for name in value:
            self._NAME.parse(field, name)
            if name.startswith("$"):
                raise InvalidField(field, "must not have names that begin with $")
        return {name: self._value(f"{field}.{shown_name(name)}", item) for name, item in value.items()}

    def _value(self, field: str, value: object) -> str | None:
        if value is None or value == "":
            return value
        return self._VALUE.parse(field, value)

    def schema(self) -> Schema:
        """JSON Schema of the object."""
        return {
            "type": "object",
            "propertyNames": {"pattern": "^[^$]", "maxLength": 200},
            "additionalProperties": {"anyOf": [{"type": "string", "maxLength": 1024}, {"type": "null"}]},
            "minProperties": 1,
            "maxProperties": MOST_PARAMETERS,
        }


class Conditions:
    """What of a visit must hold for a rule: all of it."""

    RULES: Mapping[str, Rule[Any]] = {
        "platform": AnyOf(Word(Platform)),
        "system": AnyOf(Text(100)),
        "browser": AnyOf(Text(100)),
        "language": AnyOf(Pattern(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,7}", "tags such as de or pt-BR")),
        "country": AnyOf(Country()),
        "query": Parameters(),
        "from": RuleTime(),
        "until": RuleTime(),
        "weekdays": AnyOf(Weekday(), most=7),
        "hours": Hours(),
        "device": Word(DeviceKind),
    }
    _RULE = RuleObject(RULES)

    def parse(self, field: str, value: object) -> dict[str, Any]:
        """The conditions; without any, the rule always fits. Raises InvalidField."""
        conditions = _plain(self._RULE.parse(field, value if value is not None else {}))
        begin, end = (conditions.get(name) for name in ("from", "until"))
        if begin and end and datetime.fromisoformat(begin) >= datetime.fromisoformat(end):
            raise InvalidField(f"{field}.until", "must be later than from")
        return conditions

    def schema(self) -> Schema:
        """JSON Schema of the conditions."""
        return self._RULE.schema()


def _plain(conditions: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions as JSON: members of enumerations as their texts."""
    plain: dict[str, Any] = json.loads(json.dumps(conditions))
    return plain


class Weight:
    """How large a part of a split is, compared with the others."""

    MOST = 10_000

    def parse(self, field: str, value: object) -> int:
        """The weight. Raises InvalidField."""
        if type(value) is not int or not 0 <= value <= self.MOST:
            raise InvalidField(field, f"must be a whole number from 0 to {self.MOST}")
        return value

    def schema(self) -> Schema:
        """JSON Schema of the number."""
        return {"type": "integer", "minimum": 0, "maximum": self.MOST}


class Split:
    """Variants of where a rule leads, each for its part of the visitors."""

    _VARIANT = RuleObject(
        {}, {"name": Text(50, shown=True), "weight": Weight(), "destination_url": DestinationAddress()}
    )

    def parse(self, field: str, value: object) -> list[dict[str, Any]]:
        """The variants. Raises InvalidField."""
        if not isinstance(value, list) or not 2 <= len(value) <= MOST_VARIANTS:
            raise InvalidField(field, f"must be a list of 2 to {MOST_VARIANTS} variants")
        variants = [self._VARIANT.parse(f"{field}[{place}]", item) for place, item in enumerate(value)]
        names = [variant["name"] for variant in variants]
        for place, name in enumerate(names):
            if name in names[:place]:
                raise InvalidField(f"{field}[{place}].name", "must be the name of one variant only")
        if not any(variant["weight"] for variant in variants):
            raise InvalidField(field, "must have a weight above 0")
        return variants

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        return {"type": "array", "items": self._VARIANT.schema(), "minItems": 2, "maxItems": MOST_VARIANTS}


class RuleOutcome:
    """What a rule that fits does: it leads to an address, or splits its visitors."""

    _RULE = RuleObject({"destination_url": DestinationAddress(), "split": Split()})

    def parse(self, field: str, value: object) -> dict[str, Any]:
        """The address or the split, whichever is given. Raises InvalidField."""
        outcome = self._RULE.parse(field, value)
        if not outcome:
            raise InvalidField(f"{field}.destination_url", "is required, or split")
        if len(outcome) > 1:
            raise InvalidField(field, "must have destination_url or split, not both")
        return outcome

    def schema(self) -> Schema:
        """JSON Schema of the object."""
        return self._RULE.schema() | {"minProperties": 1, "maxProperties": 1}


class LinkRules:
    """The rules of a link, in their order."""

    _RULE = RuleObject({"if": Conditions()}, {"then": RuleOutcome()})

    def parse(self, field: str, value: object) -> list[dict[str, Any]]:
        """The rules in the form in which they are stored; none for null. Raises InvalidField."""
        if value is None:
            return []
        if not isinstance(value, list) or len(value) > MOST_RULES:
            raise InvalidField(field, f"must be a list of at most {MOST_RULES} rules")
        rules: list[dict[str, Any]] = []
        errors: list[FieldError] = []
        for number, rule in enumerate(value):
            with collect_errors(errors):
                rules.append(self._rule(f"{field}[{number}]", rule))
        raise_all(errors)
        if len(json.dumps(rules, ensure_ascii=False, separators=(",", ":")).encode()) > MOST_BYTES:
            raise InvalidField(field, f"must have at most {MOST_BYTES} bytes as JSON")
        return rules

    def _rule(self, field: str, value: object) -> dict[str, Any]:
        rule = self._RULE.parse(field, value)
        return {"if": rule.get("if", {}), "then": rule["then"]}

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        rules = {"type": "array", "items": self._RULE.schema(), "maxItems": MOST_RULES}
        return {"anyOf": [rules, {"type": "null"}]}
