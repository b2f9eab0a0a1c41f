"""What is wrong with a call's arguments."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import js, load

CHECKS = load("checks")
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NO_TEXT = st.one_of(st.booleans(), st.integers(), st.floats(), st.lists(st.text(), max_size=2))
FIELDS = st.sampled_from(list(CHECKS.TEXTS))


@given(FIELDS, NO_TEXT)
def test_a_field_that_is_no_text_is_named(name: str, value: Any) -> None:
    """Where only a text can be, anything else is refused in a sentence that names the field."""
    assert CHECKS.check_fields(js({name: value})) == f"{name} must be a string"


@given(st.dictionaries(FIELDS, st.text(max_size=5) | st.none()), PLAIN)
def test_texts_and_plain_data_pass(fields: dict[str, Any], metadata: Any) -> None:
    """Texts, fields that are null, and metadata of any depth are fine."""
    assert CHECKS.check_fields(js({**fields, "metadata": metadata})) is None


@pytest.mark.parametrize("fields", ["text", 5, True])
def test_what_is_no_object_is_refused(fields: Any) -> None:
    """Fields that are no object are refused."""
    assert CHECKS.check_fields(js(fields)) == "fields must be plain data"


def test_what_is_no_json_is_refused() -> None:
    """Data that contains itself can't be sent, and is refused."""
    fields = js({"metadata": {}})
    fields["metadata"]["self"] = fields
    assert CHECKS.check_fields(fields) == "fields must be plain data"


@pytest.mark.parametrize("revenue", [None, "5", True, -0.01, float("nan"), float("inf"), [5]])
def test_revenue_must_be_an_amount(revenue: Any) -> None:
    """Revenue is a finite number, not below 0."""
    assert "revenue" in CHECKS.check_conversion(js({"revenue": revenue, "currency": "EUR"}))


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False) | st.integers(min_value=0))
def test_every_amount_passes(revenue: float) -> None:
    """Any amount from 0 on is fine, whole or not."""
    assert CHECKS.check_conversion(js({"revenue": revenue, "currency": "EUR"})) is None


@pytest.mark.parametrize("currency", [None, "", "EU", "Euro"])
def test_currency_must_have_three_letters(currency: Any) -> None:
    """A currency is an ISO 4217 code."""
    assert "currency" in CHECKS.check_conversion(js({"revenue": 5, "currency": currency}))


@pytest.mark.parametrize("fields", [None, {}, {"customer_id": ""}, {"name": "Ada"}])
def test_identify_needs_a_customer(fields: Any) -> None:
    """Without customer_id there is nobody to identify."""
    assert CHECKS.check_identity(js(fields)) == "customer_id is required"


def test_an_event_needs_a_name() -> None:
    """A name that is missing or no text is named."""
    assert CHECKS.check_event(None, None) == "name is required"
    assert CHECKS.check_event(5, None) == "name must be a string"
    assert CHECKS.check_event(js("seen"), None) is None
