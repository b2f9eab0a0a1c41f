"""The calls of the browser SDK: their kinds, and what each may carry (contract, "Events")."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from backend.domain import money
from backend.domain.attribution import SIGNALS
from backend.domain.errors import InvalidField, MissingField, RequestError
from backend.domain.field_rules import JsonObject, is_uuid, parse_string

ID_LENGTH = 256
PAGE_LENGTH = 2048
SIGNAL_LENGTH = 512

_METADATA = JsonObject(max_bytes=4096, max_depth=8)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class Kind(StrEnum):
    """What a call reports."""

    ATTRIBUTION = "attribution"
    IDENTIFY = "identify"
    LEAD = "lead"
    CONVERSION = "conversion"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class Call:
    """A call that keeps every rule of its kind. `fields` holds what its kind has of its own and was given."""

    kind: Kind
    call_id: str
    occurred_at: datetime
    page: str | None
    customer_id: str | None
    fields: dict[str, Any]


def parse_call(value: object) -> Call:
    """The call that this JSON value is; raises MissingField or InvalidField for the first
    field that breaks a rule.

    Null and the empty text stand for a field that is not given.
    """
    if not isinstance(value, dict):
        raise InvalidField("call", "must be a JSON object")
    kind = _kind(value.get("kind"))
    own = _FIELDS[kind]
    given = {name: each for name, each in value.items() if each is not None and each != ""}
    _refuse_unknown(given, kind)
    _require(given, kind)
    fields = {name: parse(name, given[name]) for name, parse in own.items() if name in given}
    return Call(
        kind=kind,
        call_id=parse_uuid("call_id", given["call_id"]),
        occurred_at=parse_time("occurred_at", given["occurred_at"]),
        page=_page(given.get("page")),
        customer_id=parse_text("customer_id", given["customer_id"]) if "customer_id" in given else None,
        fields=_with_money(fields) if kind is Kind.CONVERSION else fields,
    )


def parse_uuid(field: str, value: object) -> str:
    """A UUID in lower case; raises InvalidField."""
    if not isinstance(value, str) or not is_uuid(value):
        raise InvalidField(field, "must be a UUID")
    return value.lower()


def parse_time(field: str, value: object) -> datetime:
    """An ISO 8601 time, in UTC where it names no offset; raises InvalidField."""
    try:
        moment = datetime.fromisoformat(parse_string(field, value))
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        if isinstance(error, RequestError):
            raise
        raise InvalidField(field, "must be an ISO 8601 time, such as 2026-03-01T12:00:00.000Z") from None


def parse_text(field: str, value: object, longest: int = ID_LENGTH) -> str:
    """A text without control characters; raises InvalidField."""
    text = parse_string(field, value)
    if len(text) > longest:
        raise InvalidField(field, f"must have at most {longest} characters")
    if _CONTROL.search(text):
        raise InvalidField(field, "must not contain control characters")
    return text


def _kind(value: object) -> Kind:
    try:
        return Kind(value) if isinstance(value, str) else Kind("")
    except ValueError:
        raise InvalidField("kind", f"must be one of {', '.join(Kind)}") from None


def _refuse_unknown(given: Mapping[str, object], kind: Kind) -> None:
    for name in given:
        if name not in _SHARED and name not in _FIELDS[kind]:
            clear = f"must be hashed; send {name}_sha256" if name in {"email", "phone"} else "is unknown"
            raise InvalidField(_shown(name), clear)
    if kind is Kind.ATTRIBUTION and "customer_id" in given:
        raise InvalidField("customer_id", "is unknown")


def _require(given: Mapping[str, object], kind: Kind) -> None:
    for name in ("call_id", "occurred_at", *_REQUIRED.get(kind, ())):
        if name not in given:
            raise MissingField(name)


def _shown(name: str) -> str:
    """A field's name as it may stand in an answer: readable, and not longer than names are."""
    return _UNREADABLE.sub("�", name)[:64]


def _page(value: object) -> str | None:
    # An address may be cut in the middle of a character, and holds what its visitor typed.
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidField("page", "must be a string")
    if len(value) > PAGE_LENGTH:
        raise InvalidField("page", f"must have at most {PAGE_LENGTH} characters")
    return _UNREADABLE.sub("�", value)


def _signals(field: str, value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise InvalidField(field, "must be a JSON object")
    for name in value:
        if name not in SIGNALS:
            raise InvalidField(f"{field}.{_shown(name)}", "is unknown")
    return {name: _signal(f"{field}.{name}", value[name]) for name in SIGNALS if value.get(name)}


def _signal(field: str, value: object) -> str:
    # Like the page's address: anyone can write into it, and the visit still happened.
    if not isinstance(value, str):
        raise InvalidField(field, "must be a string")
    if len(value) > SIGNAL_LENGTH:
        raise InvalidField(field, f"must have at most {SIGNAL_LENGTH} characters")
    return _UNREADABLE.sub("�", value)


def _hash(field: str, value: object) -> str:
    text = parse_string(field, value).lower()
    if not _SHA256.fullmatch(text):
        raise InvalidField(field, "must be a SHA-256 in 64 hexadecimal digits")
    return text


def _metadata(field: str, value: object) -> dict[str, Any]:
    _METADATA.check_depth(field, value)
    return _METADATA.parse(field, _without_decimals(value))


def _without_decimals(value: object) -> object:
    """The value with its numbers as JSON usually has them: only money needs to be exact."""
    if isinstance(value, dict):
        return {name: _without_decimals(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_decimals(each) for each in value]
    return float(value) if isinstance(value, Decimal) else value


def _with_money(fields: dict[str, Any]) -> dict[str, Any]:
    try:
        return fields | {"revenue": money.parse_amount(fields["revenue"], fields["currency"])}
    except money.InvalidAmount as error:
        raise InvalidField("revenue", str(error)) from None


def _currency(field: str, value: object) -> str:
    try:
        return money.parse_currency(value)
    except money.InvalidCurrency as error:
        raise InvalidField(field, str(error)) from None


def _as_given(_field: str, value: object) -> object:
    """Revenue, whose rules depend on the currency."""
    return value


_SHARED = frozenset({"kind", "call_id", "occurred_at", "page", "customer_id"})
_REQUIRED: dict[Kind, tuple[str, ...]] = {
    Kind.IDENTIFY: ("customer_id",),
    Kind.CONVERSION: ("revenue", "currency"),
    Kind.EVENT: ("name",),
}
_FIELDS: dict[Kind, dict[str, Callable[[str, object], Any]]] = {
    Kind.ATTRIBUTION: {"signals": _signals},
    Kind.IDENTIFY: {"email_sha256": _hash, "phone_sha256": _hash, "name": parse_text},
    Kind.LEAD: {
        "email_sha256": _hash,
        "name": parse_text,
        "event_id": parse_text,
        "client_timestamp": parse_time,
    },
    Kind.CONVERSION: {
        "revenue": _as_given,
        "currency": _currency,
        "transaction_id": parse_text,
        "product_id": parse_text,
    },
    Kind.EVENT: {"name": parse_text, "product_id": parse_text, "metadata": _metadata},
}
