"""What a call or `init` may be given: the compiled SDK says, in JavaScript."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sdk_build.build import SOURCE
from sdk_build.call_rules import call_rules
from tests.sdk.compiled_checks import CompiledChecks

SALE = {"revenue": 5, "currency": "EUR"}
# Texts in which a number can be read in two ways, or none at all.
NO_AMOUNTS = [
    "1,299.00",
    "59,90",
    "1.299,00",
    "1 299",
    "€59.90",
    "59.90 EUR",
    "59.",
    ".5",
    "-5",
    "+5",
    "1e3",
    "5e-7",
    "0x1F",
    "NaN",
    "1000000000001",
]
IDS = {"customer_id", "event_id", "transaction_id", "product_id"}
TEXTS = [
    ("identify", "customer_id"),
    ("identify", "email"),
    ("identify", "phone"),
    ("identify", "name"),
    ("lead", "event_id"),
    ("conversion", "transaction_id"),
    ("conversion", "product_id"),
    ("event", "name"),
]


def good(kind: str) -> dict[str, Any]:
    """The fewest fields that a call of this kind takes."""
    fewest: dict[str, dict[str, Any]] = {
        "identify": {"customer_id": "c"},
        "conversion": SALE,
        "event": {"name": "e"},
    }
    return fewest.get(kind, {})


def taken(checks: CompiledChecks, kind: str, fields: Any) -> Any:
    """What is taken of the fields of a call."""
    checked = checks.call(kind, fields)
    assert checked.wrong is None
    return json.loads(checked.taken)


def test_the_rules_are_those_of_the_service() -> None:
    """What the SDK's source has of them is what the service's table says now (else: `make sdk`)."""
    assert (SOURCE / "call_rules.py").read_text() == call_rules()


@pytest.mark.parametrize(("kind", "name"), TEXTS)
@pytest.mark.parametrize("value", [5, 0, True, False, [], ["a"], {}, "x" * 257, "🛒" * 257])
def test_what_is_no_text_is_named(checks: CompiledChecks, kind: str, name: str, value: Any) -> None:
    """Where only a text of up to 256 characters can be, anything else is refused by name; an id may be a
    whole number."""
    is_number = type(value) is int
    assert checks.call(kind, good(kind) | {name: value}).wrong == (
        None if is_number and name in IDS else name
    )


@pytest.mark.parametrize(("kind", "name"), TEXTS)
@pytest.mark.parametrize("character", ['"', "\\", "🛒", "ü", "\u200d", "\ud83d"], ids=ascii)
def test_texts_are_counted_in_characters(
    checks: CompiledChecks, kind: str, name: str, character: str
) -> None:
    """256 of any are taken as they are, also quotes and emoji, with blanks around them or without."""
    text = character * 256
    for given in (text, f"\t \u3000{text}\r\n"):
        assert taken(checks, kind, good(kind) | {name: given})[name] == text


@pytest.mark.parametrize("value", [1.5, -2.25, 1e21, 5e-324])
@pytest.mark.parametrize("name", ["transaction_id", "customer_id", "product_id"])
def test_other_numbers_are_no_ids(checks: CompiledChecks, name: str, value: float) -> None:
    """A number with decimals or an exponent is no id. Which ones have lost digits the service says."""
    assert checks.call("conversion", SALE | {name: value}).wrong == name


@pytest.mark.parametrize(
    ("kind", "fields", "name", "value"),
    [
        ("conversion", SALE | {"revenue": "1,299.00"}, "revenue", "1,299.00"),
        ("conversion", SALE | {"revenue": "59,90"}, "revenue", "59,90"),
        ("conversion", SALE | {"transaction_id": 1.5}, "transaction_id", "1.5"),
        ("conversion", SALE | {"currency": "Euro"}, "currency", "Euro"),
        ("identify", {}, "customer_id", "undefined"),
        ("event", {"name": "e", "metadata": [1]}, "metadata", "1"),
        ("lead", {"customer_id": True}, "customer_id", "true"),
    ],
)
def test_the_error_has_the_value(
    checks: CompiledChecks, kind: str, fields: Any, name: str, value: str
) -> None:
    """The console of a page shows what was wrong also where nobody catches the error."""
    checked = checks.call(kind, fields)
    assert (checked.wrong, checked.wrong_value) == (name, value)


@pytest.mark.parametrize("blank", [None, "", " ", "\t\n", "\u00a0\ufeff\u3000", "\x00"])
def test_blank_is_not_given(checks: CompiledChecks, blank: Any) -> None:
    """What is blank is left out where it may be, and missed where it may not."""
    assert taken(checks, "lead", {"event_id": blank, "name": "Ada"}) == {"name": "Ada"}
    assert checks.call("identify", {"customer_id": blank}).wrong == "customer_id"
    assert checks.call("event", {"product_id": "kite"}, blank).wrong == "name"
    assert checks.call("conversion", SALE | {"revenue": blank}).wrong == "revenue"


def test_a_number_that_is_none_is_not_taken_for_nothing(checks: CompiledChecks) -> None:
    """A sale whose id came out as NaN would be counted each time that it is told."""
    for kind, name in (("conversion", "transaction_id"), ("lead", "event_id"), ("identify", "customer_id")):
        assert checks.call(kind, good(kind) | {name: float("nan")}).wrong == name


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"a": [1, {"b": None}], "$b": 5, "match": "A-B", "trim": 5},
        {"a": {"b": {"c": {"d": {"e": {"f": [5]}}}}}},
        {"a": {"b": {"c": {"d": {"e": {"f": [[]]}}}}}},
        {"a": "x" * 4088},
        {"a": "ü" * 2044},
        {"a": '"' * 2044},
    ],
)
def test_metadata_passes(checks: CompiledChecks, metadata: Any) -> None:
    """An object of 4,096 bytes and eight levels, whatever it holds."""
    assert taken(checks, "event", {"name": "e", "metadata": metadata})["metadata"] == metadata


@pytest.mark.parametrize(
    "metadata",
    [
        [],
        [1],
        "text",
        5,
        True,
        {"a": {"b": {"c": {"d": {"e": {"f": [[5]]}}}}}},
        {"a": "x" * 4089},
        {"a": "ü" * 2045},
        {"a": "🛒" * 1023},
        {"a": '"' * 2045},
        {"a": [False] * 2000},
    ],
)
def test_what_is_no_metadata_is_refused(checks: CompiledChecks, metadata: Any) -> None:
    """A list, a text, a number, one level more, and one byte more."""
    assert checks.call("event", {"name": "e", "metadata": metadata}).wrong == "metadata"


@pytest.mark.parametrize("fields", ["text", 5, True, [], [{}]])
def test_what_is_no_object_is_refused(checks: CompiledChecks, fields: Any) -> None:
    """Fields that are no object are refused."""
    assert checks.call("lead", fields).wrong == "fields"


@pytest.mark.parametrize(
    "revenue", [None, True, -0.01, float("inf"), [5], {}, 10**12 + 1, 1e21, 1.5e21, *NO_AMOUNTS]
)
def test_revenue_must_be_an_amount(checks: CompiledChecks, revenue: Any) -> None:
    """Revenue is a number or its digits, not below 0, and not beyond what the service takes."""
    assert checks.call("conversion", SALE | {"revenue": revenue}).wrong == "revenue"


@pytest.mark.parametrize("revenue", ["59.90", "0", "5", "1299.00", "0.005", "007.50", "1000000000000"])
def test_the_digits_of_an_amount_pass(checks: CompiledChecks, revenue: str) -> None:
    """Revenue may be a text, as templates write it; blanks around it do not count."""
    for written in (revenue, f" {revenue}\u00a0\n"):
        assert taken(checks, "conversion", SALE | {"revenue": written})["revenue"] == revenue


@pytest.mark.parametrize("revenue", [0, 5, 19.99, 1e-7, 0.1 + 0.2, 999_999_999_999.99, 10**12])
def test_every_amount_passes(checks: CompiledChecks, revenue: float) -> None:
    """Any amount from 0 on is fine, whole or not."""
    assert taken(checks, "conversion", SALE | {"revenue": revenue})["revenue"] == revenue


@pytest.mark.parametrize("currency", [None, "", "EU", "Euro", "E1R", "€€€", 978, "u\u017fd"])
def test_currency_must_have_three_letters(checks: CompiledChecks, currency: Any) -> None:
    """A currency is an ISO 4217 code."""
    assert checks.call("conversion", SALE | {"currency": currency}).wrong == "currency"


def test_a_kind_has_its_own_fields(checks: CompiledChecks) -> None:
    """What only another kind has is told and left out, as the service does, whatever it is."""
    checked = checks.call("lead", {"revenue": "much", "name": "Ada"})
    assert (checked.taken, checked.said) == ('{"name":"Ada"}', [["Waylink", "unknown", "revenue"]])


def test_unknown_names_are_told_and_left_out(checks: CompiledChecks) -> None:
    """A typo is told, by name and in every mode, and not sent."""
    checked = checks.call("conversion", SALE | {"transactionId": "7"})
    assert json.loads(checked.taken) == SALE
    assert checked.said == [["Waylink", "unknown", "transactionId"]]
