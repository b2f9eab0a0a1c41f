"""What servers tell: whatever arrives, it is parsed, or refused by the name of a field."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from backend.domain.errors import InvalidField, MissingField
from backend.domain.ids import CallId, OrgId
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.server_calls import Teller, UnknownField, parse_server_call

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TELLER = Teller(OrgId("o"), None, NOW)
SALE: dict[str, Any] = {
    "transaction_id": "t", "revenue": Decimal("12.5"), "currency": "eur", "customer_id": "c",
}  # fmt: skip
CALL_ID = CallId("7a1f8a2e-6a0b-4b8e-9a51-0d2f6f3f9c11")


def refusal(kind: Kind, item: object, teller: Teller = TELLER) -> str:
    """The sentence with which an item is refused."""
    with pytest.raises((MissingField, InvalidField)) as refused:
        parse_server_call(kind, item, teller, CALL_ID)
    return str(refused.value)


def test_a_sale_without_a_time_happens_now() -> None:
    """It is a batch of its own, in true time, with the id that it was given."""
    batch = parse_server_call(Kind.CONVERSION, SALE | {"product_id": " "}, TELLER, CALL_ID)
    (arrived,) = batch.calls
    assert (batch.device_id, batch.sent_at, arrived.call.call_id) == (None, None, CALL_ID)
    assert arrived.call.occurred_at == NOW
    fields = {"revenue": Decimal("12.50"), "currency": "EUR", "transaction_id": "t"}
    assert (arrived.call.customer_id, arrived.call.fields) == ("c", fields)


def test_amounts_are_rounded_with_a_note() -> None:
    """As a browser's are: half to the even digit of the currency."""
    batch = parse_server_call(Kind.CONVERSION, SALE | {"revenue": Decimal("0.125")}, TELLER, CALL_ID)
    assert batch.calls[0].call.notes == ("revenue was rounded to 0.12 EUR",)


@pytest.mark.parametrize(
    ("kind", "item", "sentence"),
    [
        (Kind.CONVERSION, "t", "items must hold JSON objects"),
        (Kind.CONVERSION, SALE | {"transaction_id": ""}, "transaction_id field is required"),
        (Kind.CONVERSION, SALE | {"revenue": None}, "revenue field is required"),
        (Kind.LEAD, {"event_id": "a"}, "customer_id must be given, or device_id or click_id"),
        (Kind.CONVERSION, SALE | {"device_id": "d"}, "device_id must be a UUID"),
        (Kind.CONVERSION, SALE | {"signals": {}}, "signals is not a field of such an item"),
        (Kind.LEAD, {"customer_id": "c", "event_id": 7.5}, "event_id must be a string"),
        (Kind.LEAD, {"customer_id": "c", "email": "a@b.c"}, "email must be hashed: send email_sha256"),
        (Kind.EVENT, {"customer_id": "c"}, "name field is required"),
        (Kind.IDENTIFY, {"device_id": CALL_ID}, "customer_id field is required"),
        (Kind.EVENT, {"customer_id": "c", "name": "n", "metadata": []}, "metadata must be a JSON object"),
    ],
)  # fmt: skip
def test_bad_items_are_refused(kind: Kind, item: object, sentence: str) -> None:
    """Each with a sentence that names the field and the rule."""
    assert refusal(kind, item) == sentence


@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        ("2026-03-01T11:00:00", "with a zone"),
        ("2026-03-01", "with a zone"),
        ("yesterday", "with a zone"),
        ("2026-03-01T12:06:00Z", "must not be in the future"),
        ("2025-02-27T12:00:00Z", "at most 366 days ago"),
        (1772366400, "must be a string"),
    ],
)
def test_times_that_can_t_be_are_refused(at: object, sentence: str) -> None:
    """Without a zone, in the future, or more than a year ago."""
    assert sentence in refusal(Kind.CONVERSION, SALE | {"occurred_at": at})


@pytest.mark.parametrize(
    ("at", "counts"),
    [
        ("2026-03-01T14:00:00+02:30", NOW - timedelta(minutes=30)),
        ("2026-03-01t11:59:59.5z", NOW - timedelta(seconds=0.5)),
        ("2026-03-01T12:04:59Z", NOW),
        ("2025-02-28T12:00:00Z", NOW - timedelta(days=366)),
    ],
)
def test_when_a_call_happened(at: str, counts: datetime) -> None:
    """When it says, up to a year back; a clock that is a little ahead means now."""
    batch = parse_server_call(Kind.CONVERSION, SALE | {"occurred_at": at}, TELLER, CALL_ID)
    assert batch.calls[0].call.occurred_at == counts


def test_what_would_not_be_kept_is_refused() -> None:
    """A call from before the organization's retention would be gone within a minute."""
    teller = Teller(OrgId("o"), 30, NOW)
    old = SALE | {"occurred_at": (NOW - timedelta(days=30)).isoformat()}
    assert "less than 30 days ago" in refusal(Kind.CONVERSION, old, teller)


def test_unknown_fields_are_told_apart() -> None:
    """So that their names, which come from the caller, are not kept among the reasons."""
    with pytest.raises(UnknownField):
        parse_server_call(Kind.LEAD, {"customer_id": "c", "ada@example.com": 1}, TELLER, CALL_ID)
