"""The thresholds of alert rules: from which number on something is worth an alert."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backend.domain.alerts.rule import AlertKind
from backend.domain.errors import FieldError, InvalidField, raise_all, shown_name
from backend.domain.fields.rules import Schema

FACTOR, LEAST, DAYS_BEFORE, PERCENT, REQUESTS = "factor", "least", "days_before", "percent", "requests"
_MANY = 10**9


@dataclass(frozen=True, slots=True)
class Threshold:
    """A whole number from `lowest` to `highest`; `default` where none is given. `meaning` is a sentence."""

    lowest: int
    highest: int
    default: int
    meaning: str

    def parse(self, field: str, value: object) -> int:
        """The number. Raises InvalidField, also for true and false, which Python takes for numbers."""
        if type(value) is not int or not self.lowest <= value <= self.highest:
            raise InvalidField(field, f"must be a whole number from {self.lowest} to {self.highest}")
        return value

    def schema(self) -> Schema:
        """JSON Schema of the number."""
        return {"type": "integer", "minimum": self.lowest, "maximum": self.highest}


THRESHOLDS: Mapping[AlertKind, Mapping[str, Threshold]] = {
    AlertKind.SPIKE: {
        FACTOR: Threshold(2, 100, 3, "How many times the usual clicks of an hour are a spike."),
        LEAST: Threshold(5, _MANY, 30, "How many clicks an hour must have to be a spike."),
    },
    AlertKind.DROP: {
        LEAST: Threshold(
            10, _MANY, 20, "How many clicks each of the weeks before had in the time in which now is none."
        ),
    },
    AlertKind.BROKEN_DESTINATION: {},
    AlertKind.LINK_EXPIRY: {
        DAYS_BEFORE: Threshold(0, 90, 3, "How many days before its end a link is about to expire."),
    },
    AlertKind.LIMITS: {
        PERCENT: Threshold(1, 100, 90, "Which part of a link's clicks is nearly all of them."),
        REQUESTS: Threshold(1, _MANY, 100, "How many requests of a day a rate limit must refuse."),
    },
    AlertKind.REFUSED_SITES: {
        LEAST: Threshold(1, 100, 10, "How many requests of a site must be refused within a day."),
    },
    AlertKind.REJECTED_CALLS: {
        LEAST: Threshold(1, _MANY, 10, "How many calls of a day must be rejected for one reason."),
    },
}


def defaults_of(kind: AlertKind) -> dict[str, int]:
    """The value of each of the kind's thresholds where none is given."""
    return {name: threshold.default for name, threshold in THRESHOLDS[kind].items()}


def parse_thresholds(field: str, kind: AlertKind, given: Mapping[str, object]) -> dict[str, int]:
    """The given thresholds of a rule of this kind. Raises InvalidField for another one or a wrong value."""
    errors: list[FieldError] = []
    parsed = {}
    for name, value in given.items():
        threshold = THRESHOLDS[kind].get(name)
        if threshold is None:
            possible = ", ".join(THRESHOLDS[kind]) or "none"
            rule = f"is no threshold of {kind.value}; possible: {possible}"
            errors.append(InvalidField(f"{field}.{shown_name(name)}", rule))
            continue
        try:
            parsed[name] = threshold.parse(f"{field}.{name}", value)
        except FieldError as error:
            errors.append(error)
    raise_all(errors)
    return parsed
