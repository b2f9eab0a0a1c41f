"""Calls of servers: as those of the browser SDK, but with exact times, and maybe without a device."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from backend.domain.clicks.ids import browser_of
from backend.domain.errors import (
    FieldError,
    InvalidField,
    MissingField,
    collect_errors,
    raise_all,
    shown_name,
    unknown_names,
)
from backend.domain.fields.rules import Moment, Rule, Schema, Uuid, parse_string
from backend.domain.ids import CallId, DeviceId, OrgId
from backend.domain.visitors.attribution import Touch
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.call_fields import CLEAR_CONTACTS, AddressText, CallText, FilledId, notes_of
from backend.domain.visitors.call_metadata import Metadata
from backend.domain.visitors.call_texts import is_blank
from backend.domain.visitors.calls import (
    FIELDS,
    ID_LENGTH,
    PAGE_LENGTH,
    REQUIRED,
    Call,
    Kind,
    notes_on_revenue,
    parse_call_fields,
    refuse_ended_currency,
    with_rounded_revenue,
)
from backend.domain.visitors.sources import Source

# How far back a call may have happened: a year, also a long one.
OLDEST = timedelta(days=366)
# How far ahead a server's clock may be. Such a call counts when it arrives.
AHEAD = timedelta(minutes=5)
# Who is meant: a call needs one of these.
WHO = ("customer_id", "device_id", "click_id")


class ZonedTime:
    """A time in ISO 8601 with a zone. Without one, it could be of any zone that a server runs in."""

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
    "customer_id": FilledId(ID_LENGTH),
    "device_id": Uuid(),
    "click_id": CallText(ID_LENGTH),
    "occurred_at": ZonedTime(),
    "call_id": Uuid(),
    "page": AddressText(PAGE_LENGTH),
}
_METADATA: dict[str, Rule[Any]] = {"metadata": Metadata()}
# The fields of each kind that a record keeps, by their names in calls and in stored documents.
OWN_FIELDS: dict[Kind, dict[str, Rule[Any]]] = {
    kind: {name: rule for name, rule in FIELDS[kind].items() if name != "customer_id"}
    | (_METADATA if kind in {Kind.LEAD, Kind.CONVERSION} else {})
    for kind in (Kind.CONVERSION, Kind.LEAD, Kind.EVENT, Kind.IDENTIFY)
}
RULES = {kind: _SHARED | fields for kind, fields in OWN_FIELDS.items()}
REQUIRED_FIELDS = {kind: REQUIRED[kind] for kind in RULES} | {
    Kind.CONVERSION: ("transaction_id", *REQUIRED[Kind.CONVERSION])
}


@dataclass(frozen=True, slots=True)
class Teller:
    """The organization whose server makes calls now, and for how many days it keeps data about visitors.

    `clicks` has the sources of the visits that followed the clicks, by the click ids in the calls.
    """

    org_id: OrgId
    retention_days: int | None
    now: datetime
    clicks: Mapping[str, Source] = field(default_factory=dict)


class UnknownField(InvalidField):
    """The call has a field that such calls do not have."""

    def __init__(self, name: str) -> None:
        super().__init__(shown_name(name), "is not a field of such an item")


def parse_server_call(kind: Kind, value: object, teller: Teller, call_id: CallId) -> Batch:
    """A batch with the one call that a server told. It gets this `call_id`, unless it brings one.

    Null and blank text mean that a field is not given. Raises MissingField or InvalidField, with the errors
    of all fields that are unknown or break a rule.
    """
    if not isinstance(value, dict):
        raise InvalidField("items", "must hold JSON objects")
    fields = {name: item for name, item in value.items() if not is_blank(item)}
    errors: list[FieldError] = []
    parsed = _parse_fields(kind, fields, errors)
    with collect_errors(errors):
        occurred_at = told_at(parsed, teller)
    with collect_errors(errors):
        click = _click(parsed, teller)
    raise_all(errors)
    refuse_ended_currency(parsed, occurred_at)
    kept = with_rounded_revenue(kind, parsed)
    visit = click.named_touch(teller.now) if click else None
    call = Call(
        kind=kind,
        call_id=parsed.get("call_id", call_id),
        occurred_at=occurred_at,
        page=parsed.get("page"),
        customer_id=parsed.get("customer_id"),
        fields={name: kept[name] for name in OWN_FIELDS[kind] if name in kept},
        notes=(
            *notes_of(RULES[kind], fields),
            *notes_on_revenue(parsed, kept),
            *_notes_on_visit(visit, occurred_at),
        ),
    )
    device_id, browser = parsed.get("device_id"), None
    if visit and not device_id and call.customer_id:
        browser = _browser(teller, visit)
        if kind is Kind.IDENTIFY:
            device_id, browser = browser, None
    arrived = ArrivedCall(call, visit=visit, unknown_browser=browser)
    return Batch(teller.org_id, device_id, None, teller.now, (arrived,), teller.retention_days)


def _click(parsed: Mapping[str, Any], teller: Teller) -> Source | None:
    if "click_id" not in parsed:
        return None
    source = teller.clicks.get(parsed["click_id"])
    if source is None:
        raise InvalidField("click_id", "must be a cl_click_id that one of your links gave a visitor")
    return source


def _browser(teller: Teller, visit: Touch) -> DeviceId:
    """A device id that stands for the unknown browser of a visit, by which the visit has a customer."""
    assert visit.link_id
    assert visit.click
    return browser_of(teller.org_id, visit.link_id, visit.click)


def _notes_on_visit(visit: Touch | None, occurred_at: datetime) -> list[str]:
    is_late = visit is not None and visit.at > occurred_at
    return ["click_id names a click after occurred_at, which gets no credit"] if is_late else []


def _parse_fields(kind: Kind, fields: Mapping[str, Any], errors: list[FieldError]) -> dict[str, Any]:
    rules = RULES[kind]
    for name in unknown_names(fields, rules):
        is_clear = name in CLEAR_CONTACTS and f"{name}_sha256" in rules
        hashed = InvalidField(name, f"must be hashed: send {name}_sha256")
        errors.append(hashed if is_clear else UnknownField(name))
    errors += [MissingField(name) for name in REQUIRED_FIELDS[kind] if name not in fields]
    if not any(name in fields for name in WHO):
        errors.append(InvalidField(WHO[0], f"must be given, or {' or '.join(WHO[1:])}"))
    return parse_call_fields(rules, fields, errors)


def told_at(parsed: Mapping[str, Any], teller: Teller) -> datetime:
    """When the call happened: its `occurred_at`, or now. Raises InvalidField if that is too old or ahead."""
    at: datetime = parsed.get("occurred_at", teller.now)
    if at > teller.now + AHEAD:
        raise InvalidField("occurred_at", "must not be in the future")
    if teller.now - at > OLDEST:
        raise InvalidField("occurred_at", f"must be at most {OLDEST.days} days ago")
    if teller.retention_days is not None and teller.now - at >= timedelta(days=teller.retention_days):
        rule = f"must be less than {teller.retention_days} days ago: older data is not kept"
        raise InvalidField("occurred_at", rule)
    return min(at, teller.now)
