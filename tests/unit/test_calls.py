"""Calls and envelopes of the SDK: whatever arrives, it is parsed or refused by the name of a field."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.batches import Envelope, parse_envelope
from backend.domain.calls import Call, Kind, parse_call
from backend.domain.errors import InvalidField, MissingField

GOOD = {"call_id": "7a1f8a2e-6a0b-4b8e-9a51-0d2f6f3f9c11", "occurred_at": "2026-03-01T12:00:00.000Z"}
FIELDS = [
    "page", "customer_id", "signals", "email_sha256", "phone_sha256", "name", "event_id", "client_timestamp",
    "revenue", "currency", "transaction_id", "product_id", "metadata", "call_id", "occurred_at", "other",
]  # fmt: skip
TEXTS = st.text(st.characters(exclude_categories=()), max_size=30)
# What JSON can hold; numbers with a point or an exponent arrive as decimals.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals() | TEXTS,
    lambda each: st.lists(each, max_size=4) | st.dictionaries(TEXTS, each, max_size=4),
    max_leaves=8,
)


def outcome(parse: Callable[[Any], object], value: object) -> object:
    """What the parser gives, or the refusal that it raises; anything else it raises is a fault."""
    try:
        return parse(value)
    except (InvalidField, MissingField) as refusal:
        return refusal


@given(st.sampled_from(list(Kind)), st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
def test_any_call_is_parsed_or_refused(kind: Kind, fields: dict[str, Any]) -> None:
    """A call of any kind with anything in its fields: a Call, or an error that names a field and a rule."""
    value = GOOD | {"kind": kind.value} | fields
    match outcome(parse_call, value):
        case Call() as call:
            assert call.kind is kind
        case refusal:
            assert isinstance(refusal, InvalidField | MissingField)
            assert refusal.field.partition(".")[0] in {*FIELDS, "kind"}
            assert str(refusal).startswith(refusal.field)


@given(VALUES)
def test_anything_else_is_refused(value: Any) -> None:
    """What has none of the fields of a call is refused as that."""
    assert isinstance(outcome(parse_call, value), InvalidField | MissingField)


@given(st.dictionaries(st.sampled_from(["device_id", "sdk", "sent_at", "calls", "api_key", "x"]), VALUES))
def test_any_envelope_is_parsed_or_refused(fields: dict[str, Any]) -> None:
    """An envelope with anything in its fields: an Envelope, or an error that names a field and a rule."""
    good = {"device_id": GOOD["call_id"], "sdk": "js/1", "sent_at": GOOD["occurred_at"], "calls": [{}]}
    parsed = outcome(parse_envelope, good | fields)
    assert isinstance(parsed, Envelope) or str(parsed).startswith(("body", *good))


@given(st.decimals(min_value=0, max_value=10**12, places=2))
def test_money_stays_what_it_was(revenue: Decimal) -> None:
    """Every amount in whole cents is kept exactly."""
    written = json.loads(str(revenue), parse_float=Decimal)
    parsed = parse_call(GOOD | {"kind": "conversion", "currency": "EUR", "revenue": written})
    assert parsed.fields["revenue"] == revenue
