"""Calls that servers tell: the same as the browser SDK's, in true time, and not always of a known device."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from backend.domain.batches import ArrivedCall, Batch
from backend.domain.call_fields import CLEAR_CONTACTS, AddressText, LenientRule, Metadata
from backend.domain.calls import FIELDS, ID_LENGTH, PAGE_LENGTH, REQUIRED, Call, Kind, is_blank, round_revenue
from backend.domain.errors import InvalidField, MissingField, shown_name
from backend.domain.field_rules import Moment, Rule, Schema, Text, Uuid, parse_string
from backend.domain.ids import OrgId

# How far back a call may have happened: a year, also a long one.
OLDEST = timedelta(days=366)
# How far ahead a server's clock may be. Such a call counts when it arrives.
AHEAD = timedelta(minutes=5)
# Who is meant: a call needs one of these.
WHO = ("customer_id", "device_id")


class TrueTime:
    """A time in ISO 8601 with a zone: a server's own time without one could be any."""

    _HAS_ZONE = re.compile(r"\d.*[T ].*(Z|[+-]\d{2}:?\d{2})", re.ASCII)

    def parse(self, field: str, value: object) -> datetime:
        """The time in UTC. Raises InvalidField."""
        text = parse_string(field, value).upper()
        if self._HAS_ZONE.fullmatch(text):
            return Moment().parse(field, text)
        raise InvalidField(field, "must be an ISO 8601 time with a zone, such as 2026-03-01T12:00:00Z")

    def schema(self) -> Schema:
        """JSON Schema of a date and time."""
        return Moment().schema()


_SHARED: dict[str, Rule[Any]] = {
    "customer_id": Text(ID_LENGTH),
    "device_id": Uuid(),
    "occurred_at": TrueTime(),
    "call_id": Uuid(),
    "page": AddressText(PAGE_LENGTH),
}
_METADATA: dict[str, Rule[Any]] = {"metadata": Metadata()}
# The fields of each kind that a record keeps, by the names under which they are told and stored.
OWN_FIELDS: dict[Kind, dict[str, Rule[Any]]] = {
    kind: {name: rule for name, rule in FIELDS[kind].items() if name != "customer_id"}
    | (_METADATA if kind in {Kind.LEAD, Kind.CONVERSION} else {})
    for kind in (Kind.CONVERSION, Kind.LEAD, Kind.EVENT, Kind.IDENTIFY)
}
RULES = {kind: _SHARED | own for kind, own in OWN_FIELDS.items()}
REQUIRED_FIELDS = {kind: REQUIRED[kind] for kind in RULES} | {
    Kind.CONVERSION: ("transaction_id", *REQUIRED[Kind.CONVERSION])
}


@dataclass(frozen=True, slots=True)
class Teller:
    """The organization whose server tells something now, and how long it keeps what visitors did."""

    org_id: OrgId
    retention_days: int | None
    now: datetime


class UnknownField(InvalidField):
    """The call has a field that such calls do not have."""

    def __init__(self, name: str) -> None:
        super().__init__(shown_name(name), "is not a field of such an item")


def parse_server_call(kind: Kind, value: object, teller: Teller, call_id: str) -> Batch:
    """One call of a server as a batch of its own. It gets this `call_id`, unless it brings one.

    Null and blank text mean that a field is not given. Raises MissingField or InvalidField for the first
    field that is unknown or breaks a rule.
    """
    if not isinstance(value, dict):
        raise InvalidField("items", "must hold JSON objects")
    given = {name: each for name, each in value.items() if not is_blank(each)}
    parsed = _parse_fields(kind, given)
    occurred_at = told_at(parsed, teller)
    call = Call(
        kind=kind,
        call_id=parsed.get("call_id", call_id),
        occurred_at=occurred_at,
        page=parsed.get("page"),
        customer_id=parsed.get("customer_id"),
        fields={name: parsed[name] for name in OWN_FIELDS[kind] if name in parsed},
        notes=tuple(_notes(kind, given, parsed)),
    )
    device_id = parsed.get("device_id")
    return Batch(teller.org_id, device_id, None, teller.now, (ArrivedCall(call),), teller.retention_days)


def _parse_fields(kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    rules = RULES[kind]
    for name in given:
        if name not in rules:
            if name in CLEAR_CONTACTS and f"{name}_sha256" in rules:
                raise InvalidField(name, f"must be hashed: send {name}_sha256")
            raise UnknownField(name)
    for name in REQUIRED_FIELDS[kind]:
        if name not in given:
            raise MissingField(name)
    if not any(name in given for name in WHO):
        raise InvalidField(" or ".join(WHO), "must be given")
    return {name: rule.parse(name, given[name]) for name, rule in rules.items() if name in given}


def told_at(parsed: Mapping[str, Any], teller: Teller) -> datetime:
    """When it happened, by its `occurred_at`; without it, now. Raises InvalidField for what can't be."""
    at: datetime = parsed.get("occurred_at", teller.now)
    if at > teller.now + AHEAD:
        raise InvalidField("occurred_at", "must not be in the future")
    if teller.now - at > OLDEST:
        raise InvalidField("occurred_at", f"must be at most {OLDEST.days} days ago")
    if teller.retention_days is not None and teller.now - at >= timedelta(days=teller.retention_days):
        rule = f"must be less than {teller.retention_days} days ago: older data is not kept"
        raise InvalidField("occurred_at", rule)
    return min(at, teller.now)


def _notes(kind: Kind, given: Mapping[str, Any], parsed: dict[str, Any]) -> list[str]:
    """What was cut or rounded. The revenue in `parsed` is, if it has to be."""
    notes = [
        note
        for name, rule in RULES[kind].items()
        if name in given and isinstance(rule, LenientRule)
        for note in rule.notes(name, given[name])
    ]
    return notes + (round_revenue(parsed) if kind is Kind.CONVERSION else [])
