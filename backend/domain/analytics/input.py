"""Reads queries of analytics: from a JSON body, a query string or a command line, by the same rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from backend.domain.analytics.event_properties import parse_event_field
from backend.domain.analytics.filters import Filters
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.moving_period import MovingPeriod
from backend.domain.analytics.period import Comparison, QueryPeriod, WeekStart
from backend.domain.analytics.query import (
    CHANGE,
    DEFAULT_LIMIT,
    DIFFERENCE,
    MOST_GROUPINGS,
    MOST_LIMIT,
    Field,
    Order,
    Query,
)
from backend.domain.errors import InvalidField, raise_all, unknown_fields
from backend.domain.fields.rules import Flag, Instant, Rule, Schema, Text, Word, parse_fields, parse_string
from backend.domain.fields.time_zones import TimeZone
from backend.domain.sales.credit_rules import MOST_LOOKBACK_DAYS, CreditRules, CreditTo, Model
from backend.domain.visitors.call_fields import CurrencyCode

DEFAULT_DAYS = 28
# A cursor names the values of a row, which may be long.
_LONGEST_CURSOR = 65_536
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Words:
    """A list of members of an enumeration, each given as its text, none twice.

    With `has_event_fields`, properties of events may be among them, as `event.` and a name.
    """

    choices: type[StrEnum]
    most: int
    least: int = 0
    has_event_fields: bool = False

    def parse(self, field: str, value: object) -> tuple[Any, ...]:
        """The members. Raises InvalidField."""
        if not isinstance(value, list):
            raise InvalidField(field, "must be a list")
        if not self.least <= len(value) <= self.most:
            raise InvalidField(field, f"must have from {self.least} to {self.most} entries")
        members = tuple(self._member(field, word) for word in value)
        if len(set(members)) < len(members):
            raise InvalidField(field, "must not have one twice")
        return members

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        items = Word(self.choices).schema()
        if self.has_event_fields:
            items = {"anyOf": [items, {"type": "string", "pattern": r"^event\..+$"}]}
        sizes = {"minItems": self.least, "maxItems": self.most, "uniqueItems": True}
        return {"type": "array", "items": items} | sizes

    def _member(self, field: str, word: object) -> Any:
        if self.has_event_fields and isinstance(word, str) and (found := parse_event_field(field, word)):
            return found
        return Word(self.choices).parse(field, word)


class DateOrInstant:
    """A date, which means its beginning in the query's time zone, or a time in ISO 8601 with a zone."""

    _RULE = Instant()

    def parse(self, field: str, value: object) -> date | datetime:
        """The date, or the time in UTC. Raises InvalidField."""
        instant = self._RULE.parse(field, value)
        return instant if len(str(value)) > len("2026-01-31") else instant.date()

    def schema(self) -> Schema:
        """JSON Schema of a date or time."""
        return self._RULE.schema()


class OrderRule:
    """A column, with `-` before it for descending.

    `change.` or `difference.` before a measure stands for how much it changed, and currencies behind an
    amount, such as `revenue.EUR`, for what is in them.
    """

    _MOST_CURRENCIES = 10

    def parse(self, field: str, value: object) -> Order:
        """The column and its direction. Raises InvalidField."""
        text = parse_string(field, value)
        signed = text.removeprefix("-")
        named = signed.removeprefix(CHANGE).removeprefix(DIFFERENCE)
        before = signed.removesuffix(named)
        column, *codes = named.split(".")
        is_descending, is_compared = text != signed, before in {CHANGE, DIFFERENCE}
        if column in set(Measure) and (is_compared or not before) and len(codes) <= self._MOST_CURRENCIES:
            currencies = tuple(CurrencyCode().parse(field, code) for code in codes)
            return Order(Measure(column), is_descending, before == CHANGE, before == DIFFERENCE, currencies)
        if column in set(Field) and not before and not codes:
            return Order(Field(column), is_descending)
        if not before and (of_events := parse_event_field(field, named)):
            return Order(of_events, is_descending)
        raise InvalidField(
            field,
            "must be one of measures and group_by, or change. or difference. and a measure, with - before it "
            "for descending; an amount may have a currency behind it, such as revenue.EUR",
        )

    def schema(self) -> Schema:
        """JSON Schema of all columns, in both directions."""
        plain = [measure for measure in Measure if not measure.is_money]
        compared = f"({re.escape(CHANGE)}|{re.escape(DIFFERENCE)})?"
        money = "|".join(sorted(set(Measure) - set(plain)))
        amounts = f"({money})(\\.[A-Z]{{3}}){{0,{self._MOST_CURRENCIES}}}"
        of_measures = f"{compared}({'|'.join(plain)}|{amounts})"
        named: Schema = {"type": "string", "pattern": f"^-?({of_measures}|{'|'.join(Field)})$"}
        of_events: Schema = {"type": "string", "pattern": r"^-?event\..+$"}
        return {"anyOf": [named, of_events], "example": "-clicks"}


@dataclass(frozen=True, slots=True)
class UpTo:
    """A whole number from 1 to `most`."""

    most: int
    default: int | None = None

    def parse(self, field: str, value: object) -> int:
        """The number. Raises InvalidField."""
        if type(value) is not int or not 1 <= value <= self.most:
            raise InvalidField(field, f"must be a whole number from 1 to {self.most}")
        return value

    def schema(self) -> Schema:
        """JSON Schema of the number."""
        default = {} if self.default is None else {"default": self.default}
        return {"type": "integer", "minimum": 1, "maximum": self.most} | default


FIELDS: dict[str, Rule[Any]] = {
    "measures": Words(Measure, len(Measure), 1),
    "group_by": Words(Field, MOST_GROUPINGS, has_event_fields=True),
    "from": DateOrInstant(),
    "to": DateOrInstant(),
    "period": Word(MovingPeriod),
    "timezone": TimeZone(),
    "week_starts": Word(WeekStart),
    "filters": Filters(),
    "compare": Word(Comparison),
    "change": Flag(),
    "currency": CurrencyCode(),
    "credit": Word(CreditTo),
    "model": Word(Model),
    "lookback_days": UpTo(MOST_LOOKBACK_DAYS),
    "as_of": DateOrInstant(),
    "order_by": OrderRule(),
    "limit": UpTo(MOST_LIMIT, DEFAULT_LIMIT),
    "cursor": Text(_LONGEST_CURSOR),
}
_FILTERS_EXAMPLE = '{"campaign":["spring",null]}'
# Null in one of these fields stands for a field that is left out.
NULLABLE = frozenset({"compare", "currency", "lookback_days", "as_of", "order_by", "cursor"})
_IN_QUERY = {"compare", "change", "currency", "limit", "cursor", "measures", "group_by", "filters"}
UTC_ZONE = ZoneInfo("UTC")


def field_schema(name: str, rule: Rule[Any]) -> Schema:
    """JSON Schema of this field of a query, which may be null if it is one of NULLABLE."""
    return {"anyOf": [rule.schema(), {"type": "null"}]} if name in NULLABLE else rule.schema()


def parse_query(body: Mapping[str, object], now: datetime) -> Query:
    """The query in a body. A field that is left out has its default.

    Raises the errors of all fields together, also of unknown ones, and InvalidField for fields that do not
    fit each other.
    """
    errors = unknown_fields(body, FIELDS)
    fields = parse_fields(
        FIELDS,
        {name: value for name, value in body.items() if not (value is None and name in NULLABLE)},
        errors,
    )
    raise_all(errors)
    period = period_of(fields, now)
    others = {name: value for name, value in fields.items() if name in _IN_QUERY}
    return Query(period=period, rules=_rules(fields), order=fields.get("order_by"), now=now, **others)


CREDIT_FIELDS = ("credit", "model", "lookback_days", "as_of")


def parse_rules(fields: Mapping[str, object]) -> CreditRules:
    """The rules of credit in these fields, each of which may be left out; days are in UTC.

    Raises InvalidField.
    """
    return _rules({name: FIELDS[name].parse(name, fields[name]) for name in CREDIT_FIELDS if name in fields})


def _rules(fields: Mapping[str, Any]) -> CreditRules:
    """How credit is given. A date that it stood on includes all of this day."""
    as_of = fields.get("as_of")
    if as_of is not None and not isinstance(as_of, datetime):
        if as_of == date.max:
            raise _unreckonable("as_of")
        as_of = _moment("as_of", as_of + _DAY, fields.get("timezone", UTC_ZONE))
    return CreditRules(
        fields.get("credit", CreditTo.DEVICE),
        fields.get("model", Model.LAST_NON_DIRECT),
        fields.get("lookback_days"),
        as_of,
    )


def period_of(fields: Mapping[str, Any], now: datetime) -> QueryPeriod:
    """The moving period in these parsed fields, or the time between `from` and `to`.

    By default it is the last 28 days of the time zone, today included. Raises InvalidField.
    """
    zone: ZoneInfo = fields.get("timezone", UTC_ZONE)
    if "period" in fields:
        return _moving_period(fields, zone, now)
    end = fields.get("to", now.astimezone(zone).date() + _DAY)
    end_at = _moment("to", end, zone)
    week: WeekStart = fields.get("week_starts", WeekStart.MONDAY)
    if "from" in fields:
        return QueryPeriod(_moment("from", fields["from"], zone), end_at, zone, week)
    try:
        local = end_at.astimezone(zone).replace(tzinfo=None) - DEFAULT_DAYS * _DAY
        start_at = local.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        raise _unreckonable("to") from None
    return QueryPeriod(start_at, end_at, zone, week)


def _moving_period(fields: Mapping[str, Any], zone: ZoneInfo, now: datetime) -> QueryPeriod:
    if ends := [name for name in ("from", "to") if name in fields]:
        raise InvalidField("period", f"can't be given together with {' and '.join(ends)}")
    period: MovingPeriod = fields["period"]
    return period.at(now, zone, fields.get("week_starts", WeekStart.MONDAY))


def _moment(field: str, at: date | datetime, zone: ZoneInfo) -> datetime:
    if isinstance(at, datetime):
        return at
    try:
        return datetime(at.year, at.month, at.day, tzinfo=zone).astimezone(UTC)
    except OverflowError:
        raise _unreckonable(field) from None


def _unreckonable(field: str) -> InvalidField:
    return InvalidField(field, "must be a date that can be reckoned with")


class Listed:
    """What `rule` takes as a list, written as texts with commas between them."""

    def __init__(self, rule: Words) -> None:
        self._rule = rule

    def parse(self, field: str, value: object) -> list[str]:
        """The texts, which `rule` takes. Raises InvalidField."""
        texts = str(value).split(",") if value else []
        self._rule.parse(field, texts)
        return texts

    def schema(self) -> Schema:
        """JSON Schema of the text: as the list, with commas."""
        words = "|".join((*self._rule.choices, *([r"event\.[^,]+"] if self._rule.has_event_fields else [])))
        some = f"({words})(,({words}))*"
        return {"type": "string", "pattern": f"^{some}$" if self._rule.least else f"^({some})?$"}


class AsJson:
    """What `rule` takes, written as JSON."""

    def __init__(self, rule: Rule[Any]) -> None:
        self._rule = rule

    def parse(self, field: str, value: object) -> object:
        """What the JSON says, which `rule` takes. Raises InvalidField."""
        try:
            parsed: object = json.loads(str(value))
        except (ValueError, RecursionError):
            raise InvalidField(field, f"must be JSON, such as {_FILTERS_EXAMPLE}") from None
        self._rule.parse(field, parsed)
        return parsed

    def schema(self) -> Schema:
        """JSON Schema of the text."""
        return {"type": "string", "contentMediaType": "application/json", "example": _FILTERS_EXAMPLE}


class _Digits:
    """The number that `rule` takes, written in digits."""

    def __init__(self, rule: UpTo) -> None:
        self._rule = rule

    def parse(self, field: str, value: object) -> int:
        """The number. Raises InvalidField."""
        text = str(value)
        return self._rule.parse(field, int(text) if re.fullmatch(r"[0-9]{1,9}", text) else value)

    def schema(self) -> Schema:
        """JSON Schema of the number."""
        return self._rule.schema()


class _TrueOrFalse:
    """What `rule` takes, written as a word."""

    def __init__(self, rule: Flag) -> None:
        self._rule = rule

    def parse(self, field: str, value: object) -> bool:
        """What the word says. Raises InvalidField."""
        words: dict[object, object] = {"true": True, "false": False}
        return self._rule.parse(field, words.get(value, value))

    def schema(self) -> Schema:
        """JSON Schema of both words."""
        return self._rule.schema()


class _Written:
    """What `rule` takes, as it is written."""

    def __init__(self, rule: Rule[Any]) -> None:
        self._rule = rule

    def parse(self, field: str, value: object) -> object:
        """The text. Raises InvalidField."""
        self._rule.parse(field, value)
        return value

    def schema(self) -> Schema:
        """JSON Schema of the text."""
        return self._rule.schema()


def _parameter(name: str, rule: Rule[Any]) -> Rule[Any]:
    if isinstance(rule, Words):
        return Listed(rule)
    if isinstance(rule, UpTo):
        return _Digits(rule)
    if isinstance(rule, Flag):
        return _TrueOrFalse(rule)
    return AsJson(rule) if name == "filters" else _Written(rule)


# The fields of a whole answer as parameters, each to the text or list that FIELDS takes.
PARAMETERS: dict[str, Rule[Any]] = {
    name: _parameter(name, rule) for name, rule in FIELDS.items() if name not in {"limit", "cursor"}
}
