"""What a call or `init` may be given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import js, load

TEXTS = [
    name
    for name in load("checks").FIELDS
    if name not in {"revenue", "metadata", "currency", "client_timestamp"}
]
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("abc ü", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
NO_TEXT = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.lists(st.text(), max_size=2))
CONVERSION = "revenue currency"


def take(fields: Any, required: str = "") -> tuple[Any, list[tuple[Any, ...]]]:
    """What is taken of a call's fields, and what was said."""
    said: list[tuple[Any, ...]] = []
    checks = load("checks", say=lambda *words: said.append(words))
    return checks.take(js(fields), checks.FIELDS, js(required), checks.TEXT), said


def wrong_in(fields: Any, required: str = "") -> str:
    """The name in the error."""
    with pytest.raises(TypeError) as caught:
        take(fields, required)
    return str(caught.value).removeprefix("Waylink: ")


@given(st.sampled_from(TEXTS), NO_TEXT)
def test_a_field_that_is_no_text_is_named(name: str, value: Any) -> None:
    """Where only a text can be, anything else is refused by name."""
    assert wrong_in({name: value}) == name


@given(st.dictionaries(st.sampled_from(TEXTS), st.text("ab ü", max_size=256) | st.none()))
def test_texts_pass(fields: dict[str, Any]) -> None:
    """Texts are taken as they are; null and an empty text count as not given."""
    taken, said = take(fields)
    assert taken == {name: value for name, value in fields.items() if value}
    assert said == []


@given(st.dictionaries(st.text("abc", max_size=5), PLAIN, max_size=3))
def test_metadata_of_any_depth_passes(metadata: Any) -> None:
    """An object is metadata, whatever it holds."""
    assert take({"metadata": metadata})[0]["metadata"] == metadata


@pytest.mark.parametrize("metadata", [[], [1], "text", 5, True, {"a": "x" * 4096}])
def test_what_is_no_metadata_is_refused(metadata: Any) -> None:
    """A list, a text, a number, and more than the service takes."""
    assert wrong_in({"metadata": metadata}) == "metadata"


def test_a_text_that_is_too_long_is_refused() -> None:
    """The service takes 256 characters."""
    assert take({"product_id": "x" * 256})[0] == {"product_id": "x" * 256}
    assert wrong_in({"product_id": "x" * 257}) == "product_id"


@pytest.mark.parametrize("fields", ["text", 5, True, [], [{}]])
def test_what_is_no_object_is_refused(fields: Any) -> None:
    """Fields that are no object are refused."""
    assert wrong_in(fields) == "fields"


@pytest.mark.parametrize("revenue", [None, "5", True, -0.01, float("nan"), float("inf"), [5], {}])
def test_revenue_must_be_an_amount(revenue: Any) -> None:
    """Revenue is a finite number, not below 0."""
    assert wrong_in({"revenue": revenue, "currency": "EUR"}, CONVERSION) == "revenue"


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False) | st.integers(min_value=0))
def test_every_amount_passes(revenue: float) -> None:
    """Any amount from 0 on is fine, whole or not."""
    assert take({"revenue": revenue, "currency": "EUR"}, CONVERSION)[0]["revenue"] == revenue


@pytest.mark.parametrize("currency", [None, "", "EU", "Euro", "E1R", "€€€", 978])
def test_currency_must_have_three_letters(currency: Any) -> None:
    """A currency is an ISO 4217 code."""
    assert wrong_in({"revenue": 5, "currency": currency}, CONVERSION) == "currency"


@pytest.mark.parametrize("fields", [None, {}, {"customer_id": ""}, {"customer_id": None}, {"name": "Ada"}])
def test_identify_needs_a_customer(fields: Any) -> None:
    """Without customer_id there is nobody to identify."""
    assert wrong_in(fields, "customer_id") == "customer_id"


def test_unknown_names_are_told_and_left_out() -> None:
    """A typo is told, by name and in every mode, and not sent."""
    assert take({"transactionId": "7", "name": "Ada"}) == (
        {"name": "Ada"},
        [("unknown", "transactionId", True)],
    )
