"""Calls of the browser SDK: their kinds, and the fields of each kind (contract, "Events")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from backend.domain.errors import FieldError, InvalidField, MissingField, raise_all
from backend.domain.fields import money
from backend.domain.fields.rules import Moment, Rule, Uuid, Word, parse_fields
from backend.domain.ids import CallId, CustomerId
from backend.domain.visitors.call_fields import (
    AddressText,
    Amount,
    CallText,
    CallTime,
    CurrencyCode,
    FilledId,
    FilledIdOrNone,
    IdText,
    LenientRule,
    Sha256,
    SignalsRule,
    notes_on_unknown,
)
from backend.domain.visitors.call_metadata import Metadata
from backend.domain.visitors.call_texts import is_blank

ID_LENGTH = 256
PAGE_LENGTH = 2048


class Kind(StrEnum):
    """The kinds of calls."""

    ATTRIBUTION = "attribution"
    IDENTIFY = "identify"
    LEAD = "lead"
    CONVERSION = "conversion"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class Call:
    """A valid call. `fields` holds the fields that only its kind has, as far as they were given.

    `notes` are sentences on what was rounded, cut or left out.
    """

    kind: Kind
    call_id: CallId
    occurred_at: datetime
    page: str | None
    customer_id: CustomerId | None
    fields: dict[str, Any]
    notes: tuple[str, ...] = ()


def parse_call(value: object) -> Call:
    """Read one call from its JSON value.

    Null and blank text mean that a field is not given. Unknown fields are left out. Raises MissingField or
    InvalidField, with the errors of all fields that break a rule.
    """
    if not isinstance(value, dict):
        raise InvalidField("call", "must be a JSON object")
    kind = Kind(_KIND.parse("kind", value.get("kind")))
    rules = _RULES[kind]
    fields = {name: item for name, item in value.items() if not is_blank(item)}
    required = (*_ALWAYS_REQUIRED, *REQUIRED[kind])
    errors: list[FieldError] = [MissingField(name) for name in required if name not in fields]
    parsed = parse_call_fields(rules, fields, errors)
    raise_all(errors)
    refuse_ended_currency(parsed, parsed["occurred_at"])
    notes = notes_on_unknown([name for name in fields if name not in rules], allowed=rules)
    notes += [
        note for name, rule in _LENIENT[kind] if name in fields for note in rule.notes(name, fields[name])
    ]
    kept = with_rounded_revenue(kind, parsed)
    notes += notes_on_revenue(parsed, kept)
    return Call(
        kind=kind,
        call_id=parsed["call_id"],
        occurred_at=parsed["occurred_at"],
        page=parsed.get("page"),
        customer_id=parsed.get("customer_id"),
        fields={name: item for name, item in kept.items() if name not in _OF_EVERY_CALL},
        notes=tuple(notes),
    )


def parse_call_fields(
    rules: Mapping[str, Rule[Any]], fields: Mapping[str, object], errors: list[FieldError]
) -> dict[str, Any]:
    """The given fields as they are stored, without those that their rules leave out.

    The errors of those that break a rule are added to `errors`.
    """
    parsed = parse_fields(rules, fields, errors)
    return {name: item for name, item in parsed.items() if item is not None}


def refuse_ended_currency(fields: Mapping[str, Any], at: datetime) -> None:
    """Raise InvalidField where the fields have a currency that had ended at this time."""
    if currency := fields.get("currency"):
        try:
            money.refuse_ended(currency, at.date())
        except money.InvalidCurrency as error:
            raise InvalidField("currency", str(error)) from None


def with_rounded_revenue(kind: Kind, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of such a call; a conversion's with its revenue in its currency's decimals."""
    if kind is not Kind.CONVERSION:
        return fields
    return {**fields, "revenue": money.rounded(fields["revenue"], fields["currency"])}


def notes_on_revenue(parsed: Mapping[str, Any], kept: Mapping[str, Any]) -> list[str]:
    """A sentence if the revenue that is kept is not the one that was told."""
    if parsed.get("revenue") == kept.get("revenue"):
        return []
    return [f"revenue was rounded to {kept['revenue']} {kept['currency']}"]


_KIND = Word(Kind)
_TEXT = CallText(ID_LENGTH)
# Whose call it is, where it counts also without.
_WHOSE = FilledIdOrNone(ID_LENGTH)
_SHARED: dict[str, Rule[Any]] = {
    "kind": _KIND,
    "call_id": Uuid(),
    "occurred_at": Moment(),
    "page": AddressText(PAGE_LENGTH),
}
_ALWAYS_REQUIRED = ("call_id", "occurred_at")
_OF_EVERY_CALL = frozenset({*_SHARED, "customer_id"})
# Of the fields that only calls of each kind have, those that each of them must have.
REQUIRED: dict[Kind, tuple[str, ...]] = {
    Kind.ATTRIBUTION: (),
    Kind.IDENTIFY: ("customer_id",),
    Kind.LEAD: (),
    Kind.CONVERSION: ("revenue", "currency"),
    Kind.EVENT: ("name",),
}
# The rules of the fields that only calls of each kind have.
FIELDS: dict[Kind, dict[str, Rule[Any]]] = {
    Kind.ATTRIBUTION: {"signals": SignalsRule()},
    Kind.IDENTIFY: {
        "customer_id": FilledId(ID_LENGTH),
        "email_sha256": Sha256(),
        "phone_sha256": Sha256(),
        "name": _TEXT,
    },
    Kind.LEAD: {
        "customer_id": _WHOSE,
        "email_sha256": Sha256(),
        "name": _TEXT,
        "event_id": FilledIdOrNone(ID_LENGTH),
        "client_timestamp": CallTime(_TEXT),
    },
    Kind.CONVERSION: {
        "customer_id": _WHOSE,
        "revenue": Amount(),
        "currency": CurrencyCode(),
        "transaction_id": FilledId(ID_LENGTH),
        "product_id": IdText(ID_LENGTH),
    },
    Kind.EVENT: {
        "customer_id": _WHOSE,
        "name": _TEXT,
        "product_id": IdText(ID_LENGTH),
        "metadata": Metadata(),
    },
}
# The rules of all fields that a call of each kind may have, and those among them that repair values.
_RULES = {kind: _SHARED | fields for kind, fields in FIELDS.items()}
_LENIENT = {
    kind: [(name, rule) for name, rule in rules.items() if isinstance(rule, LenientRule)]
    for kind, rules in _RULES.items()
}
