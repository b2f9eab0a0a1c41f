"""Calls and envelopes of the SDK: whatever arrives, it is parsed or refused by the name of a field."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backend.domain.errors import InvalidField, MissingField, shown_value
from backend.domain.visitors.batches import Envelope, parse_envelope
from backend.domain.visitors.call_fields import MOST_NOTES
from backend.domain.visitors.call_texts import is_blank
from backend.domain.visitors.calls import PAGE_LENGTH, Call, Kind, parse_call
from backend.domain.visitors.rejections import Rejection, rejection_of
from backend.domain.visitors.sources import SIGNALS

GOOD = {"call_id": "7a1f8a2e-6a0b-4b8e-9a51-0d2f6f3f9c11", "occurred_at": "2026-03-01T12:00:00.000Z"}
FIELDS = [
    "page", "customer_id", "signals", "email_sha256", "phone_sha256", "name", "event_id", "client_timestamp",
    "revenue", "currency", "transaction_id", "product_id", "metadata", "call_id", "occurred_at", "other",
]  # fmt: skip
REQUIRED: dict[Kind, tuple[str, ...]] = {
    Kind.ATTRIBUTION: (),
    Kind.IDENTIFY: ("customer_id",),
    Kind.LEAD: (),
    Kind.CONVERSION: ("revenue", "currency"),
    Kind.EVENT: ("name",),
}
TEXTS = st.text(st.characters(exclude_categories=()), max_size=30)
# What JSON can hold; numbers with a point or an exponent arrive as decimals.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals() | TEXTS,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(TEXTS, values, max_size=4),
    max_leaves=8,
)


def outcome(parse: Callable[[Any], object], value: object) -> object:
    """What the parser gives, or the refusal that it raises; anything else it raises is a fault."""
    try:
        return parse(value)
    except (InvalidField, MissingField) as refusal:
        return refusal


@given(st.sampled_from(list(Kind)), st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4))
@example(Kind.EVENT, {"metadata": {"price": Decimal("sNaN")}})
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


@given(st.sampled_from(list(Kind)), st.dictionaries(TEXTS, VALUES, min_size=1, max_size=20))
def test_unknown_fields_are_left_out(kind: Kind, unknown: dict[str, Any]) -> None:
    """A call is taken without the fields that nobody knows, and says so; of many it names some."""
    required = {"revenue": 1, "currency": "EUR", "name": "n", "customer_id": "c"}
    good = GOOD | {"kind": kind.value} | {name: required[name] for name in REQUIRED[kind]}
    strange = {f"?{name}": value for name, value in unknown.items()}
    call, noted = parse_call(good), parse_call(strange | good)
    assert replace(noted, notes=()) == call
    present = [name for name, value in strange.items() if not is_blank(value)]
    assert len(noted.notes) == min(len(present), MOST_NOTES + 1)


@pytest.mark.parametrize(
    ("written", "currency", "kept", "note"),
    [
        ("19.999", "EUR", "20.00", "revenue was rounded to 20.00 EUR"),
        ("99.5", "jpy", "100", "revenue was rounded to 100 JPY"),
        ("16.991500000000002", "EUR", "16.99", "revenue was rounded to 16.99 EUR"),
        ("33.333333333333336", "EUR", "33.33", "revenue was rounded to 33.33 EUR"),
        ("0.30000000000000004", "EUR", "0.30", None),
        ("19.9", "EUR", "19.90", None),
    ],
)
def test_money_is_rounded_with_a_note(written: str, currency: str, kept: str, note: str | None) -> None:
    """More decimal places than the currency has are told of; a browser's noise is not."""
    call = parse_call(GOOD | {"kind": "conversion", "currency": currency, "revenue": Decimal(written)})
    assert (str(call.fields["revenue"]), list(call.notes)) == (kept, [note] if note else [])


UNFILLED = [
    "undefined", "null", "NULL", "NaN", "nan", "None", "[object Object]", "[object HTMLInputElement]",
    "{{Order ID}}", "{{ order.id }}", "order-{{id}}", "${order.id}", "order_${id}", "#{id}", "%ORDER%",
    "%%ORDER_ID%%", "%%=v(@id)=%%", "<%= order.id %>", "{order_id}", "[ORDER_ID]", "[[order]]",
    "{% order %}", "ORD-undefined", "undefined-17", " {{Order ID}}\n", "nil", "<nil>", "(null)", "N/A",
    "#N/A", "(not set)", "null,null", "order-null", "ORD_none", "NaN-17", "order NaN", "false", "\\N", "-",
    "()", "__", "__ORDER_ID__", "*|ORDERID|*", "%{id}", "%(id)s", "%s", "{0}", "$order_id", "$order->id",
    "$$id$$", "#id#", "##ORDER##", "YOUR_ORDER_ID", "orderId", "%7B%7Border.id%7D%7D",
    "null_null", "ORD-", "user_", "id:", "%5Bobject%20Object%5D", "function () { return id }",
    "00000000-0000-0000-0000-000000000000", "{00000000-0000-0000-0000-000000000000}",
]  # fmt: skip
FILLED = [
    "17", "0", "Null Island", "nancy", "nilsson", "Nil Yalter", "nonesuch", "NaNA", "anna-null", "na", "n-1",
    "__7__", "_a_", "__abc__", "ORDER_ID_7", "order-7", "user-none-7", "true-7", "functional", "@ada", "%207",
    "\u6ce8\u6587", "\U0001f6d2", "----", "a%20b", "(7)", "ORD-1000", "100% Wolle",
    "{7A1F8A2E-6A0B-4B8E-9A51-0D2F6F3F9C11}", "50%", "a{b}c", "[12]", "anna.null@example.com",
    "<17>", "$17", "undefine", "#17", "order", "user", "orders-", "null_user",
    "00000000-0000-0000-0000-000000000001", "00000000",
]  # fmt: skip


def call(kind: str, **fields: Any) -> Call:
    """A call of this kind with these fields, parsed."""
    needed: dict[str, dict[str, object]] = {
        "conversion": {"revenue": 1, "currency": "EUR"},
        "event": {"name": "e"},
    }
    return parse_call(GOOD | {"kind": kind} | needed.get(kind, {}) | fields)


@pytest.mark.parametrize("unfilled", UNFILLED)
def test_ids_that_a_template_left_unfilled(unfilled: str) -> None:
    """Such an id is no sale and no customer; a sale or lead counts without its customer, with a note."""
    for kind, name in (("conversion", "transaction_id"), ("identify", "customer_id")):
        with pytest.raises(InvalidField, match=f"^{name} must be filled in") as refused:
            call(kind, **{name: unfilled})
        assert unfilled.strip() not in refused.value.rule or unfilled.strip() in {"undefined", "null", "NaN"}
    for kind, name in (("conversion", "customer_id"), ("lead", "customer_id"), ("lead", "event_id")):
        parsed = call(kind, **{name: unfilled})
        assert (parsed.customer_id, parsed.fields.get(name)) == (None, None)
        assert any(note.startswith(f"{name} was left out: it must be filled in") for note in parsed.notes)


@pytest.mark.parametrize("filled", FILLED)
def test_ids_that_look_like_it(filled: str) -> None:
    """What a shop may use as an id is taken."""
    assert call("conversion", transaction_id=filled).fields["transaction_id"] == filled
    assert call("identify", customer_id=filled).customer_id == filled


@pytest.mark.parametrize("number", [17, 0, -3, 5678901234567, 2**53 - 1, -(2**53) + 1])
def test_whole_numbers_are_ids(number: int) -> None:
    """A shop's number is the id that its digits are."""
    sale = call("conversion", transaction_id=number, customer_id=number, product_id=number)
    assert sale == call(
        "conversion", transaction_id=str(number), customer_id=str(number), product_id=str(number)
    )


@pytest.mark.parametrize("number", [2**53, 9007199254740993, -(2**53), Decimal("1.5"), Decimal("17.0"), True])
def test_other_numbers_are_no_ids(number: Any) -> None:
    """A number that JavaScript may have changed, and one that is not whole, could be another's id."""
    with pytest.raises(InvalidField, match=r"^transaction_id must be a string"):
        call("conversion", transaction_id=number)


@pytest.mark.parametrize(
    ("text", "amount"),
    [("59.90", "59.90"), (" 0 ", "0.00"), ("1299", "1299.00"), ("0.30000000000000004", "0.30")],
)
def test_the_digits_of_an_amount(text: str, amount: str) -> None:
    """Revenue may be a plain decimal text."""
    assert str(call("conversion", revenue=text).fields["revenue"]) == amount


@pytest.mark.parametrize(
    "text", ["1,299.00", "59,90", "1.299,00", "€59.90", "1e3", ".5", "5.", "-5", "٥", "5" * 300]
)
def test_other_texts_are_no_amounts(text: str) -> None:
    """What can be read in two ways is refused, with the value and the rule."""
    with pytest.raises(
        InvalidField, match=r"^revenue must be a number, in major units, or plain text such as"
    ) as refused:
        call("conversion", revenue=text)
    assert str(refused.value).endswith(f", not {shown_value(text)}")


@pytest.mark.parametrize(
    ("currency", "day", "is_taken"),
    [
        ("BGN", "2025-12-20", True),
        ("BGN", "2025-12-31", True),
        ("BGN", "2026-01-01", False),
        ("hrk", "2022-06-01", True),
        ("HRK", "2026-03-01", False),
        ("ANG", "2025-03-30", True),
        ("XCG", "2026-03-01", True),
    ],
)
def test_currencies_count_in_their_time(currency: str, day: str, is_taken: bool) -> None:
    """A sale may be told after its currency has ended, and none is made in it afterwards."""
    told = {"currency": currency, "occurred_at": f"{day}T12:00:00Z", "revenue": Decimal("9.995")}
    if is_taken:
        assert str(call("conversion", **told).fields["revenue"]) == "10.00"
    else:
        with pytest.raises(InvalidField, match=r"^currency must be a currency of its time: .* ended on 20"):
            call("conversion", **told)


SEEN: set[Rejection] = set()


@given(
    st.dictionaries(
        st.sampled_from(["kind", *FIELDS]) | TEXTS, VALUES | st.sampled_from(list(Kind)), max_size=4
    )
)
def test_rejections_are_the_services_own_words(fields: dict[str, Any]) -> None:
    """Whatever calls say, an owner is told of few different rejections, and of none that repeats the call."""
    refusal = outcome(parse_call, GOOD | fields)
    if isinstance(refusal, InvalidField | MissingField):
        SEEN.add(rejection_of(fields, refusal))
    assert len(SEEN) < 100
    assert all(
        rejection.field in {"call", "kind", *FIELDS, *(f"signals.{name}" for name in SIGNALS)}
        for rejection in SEEN
    )


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


@pytest.mark.parametrize(
    ("page", "stored"),
    [
        ("https://a.example/?cl_device=x.y.z", "https://a.example/"),
        ("https://a.example/?cl_device=x.y.z&b=1#c", "https://a.example/?b=1#c"),
        ("https://a.example/?b=1&cl_device=x.y.z#c", "https://a.example/?b=1#c"),
        ("https://a.example/?b=1&cl_device=x.y.z&c=2", "https://a.example/?b=1&c=2"),
        ("https://a.example/?cl_device=1&cl_device=2", "https://a.example/"),
        ("https://a.example/?cl_device=1&cl_device=2&b=1&cl_device=3", "https://a.example/?b=1"),
        ("https://a.example/?acl_device=1", "https://a.example/?acl_device=1"),
    ],
)
def test_a_handed_device_is_no_part_of_a_page(page: str, stored: str) -> None:
    """What a link to another site of the owner carries is left out of addresses, and nothing else is."""
    assert parse_call(GOOD | {"kind": "attribution", "page": page}).page == stored


def test_an_address_is_not_cut_for_a_handed_device() -> None:
    """No note says so of a page that fits without what a link to it carried."""
    page = "https://a.example/?b=" + "x" * (PAGE_LENGTH - len("https://a.example/?b="))
    handed = parse_call(GOOD | {"kind": "attribution", "page": page + "&cl_device=x.y.z"})
    assert (handed.page, list(handed.notes)) == (page, [])
