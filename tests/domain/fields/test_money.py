"""Money: exact decimals in the major unit of a currency."""

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.fields.money import (
    MINOR_DIGITS,
    InvalidAmount,
    InvalidCurrency,
    parse_amount,
    parse_currency,
    rounded,
)


@pytest.mark.parametrize(
    ("written", "currency", "stored"),
    [
        ("19.99", "EUR", "19.99"),
        ("19.9", "EUR", "19.90"),
        ("0", "EUR", "0.00"),
        ("-0.0", "EUR", "0.00"),
        ("1e3", "USD", "1000.00"),
        ("100", "JPY", "100"),
        ("1.234", "KWD", "1.234"),
        ("0.30000000000000004", "EUR", "0.30"),
        ("59.97000000000001", "EUR", "59.97"),
        ("1000000000000", "EUR", "1000000000000.00"),
        ("999999999999.999", "EUR", "1000000000000.00"),
        ("19.999", "EUR", "20.00"),
        ("99.5", "JPY", "100"),
        ("98.5", "JPY", "98"),
        ("16.991500000000002", "EUR", "16.99"),
        ("33.333333333333336", "EUR", "33.33"),
        ("0.125", "EUR", "0.12"),
        ("0.135", "EUR", "0.14"),
        ("0.0005", "KWD", "0.000"),
        ("1e-999999", "EUR", "0.00"),
    ],
)
def test_amounts(written: str, currency: str, stored: str) -> None:
    """An amount gets its currency's minor digits, halves going to the even one; a browser's noise is gone."""
    assert str(rounded(parse_amount(Decimal(written)), currency)) == stored


@pytest.mark.parametrize(
    "written", ["-0.01", "-1e-30", "NaN", "sNaN", "Infinity", "-Infinity", "1e13", "1e999999"]
)
def test_what_is_no_amount(written: str) -> None:
    """Negative, not finite and absurd amounts are refused."""
    with pytest.raises(InvalidAmount):
        parse_amount(Decimal(written))


@given(st.integers(0, 10**13), st.sampled_from(sorted(MINOR_DIGITS)))
def test_every_amount_of_minor_units_survives_a_browser(minor: int, currency: str) -> None:
    """Whatever amount a shop can charge, a JavaScript number carries it here exactly."""
    digits = MINOR_DIGITS[currency]
    exact = Decimal(minor).scaleb(-digits)
    as_a_browser_writes_it = Decimal(repr(float(exact)))
    if exact <= 10**12:
        assert parse_amount(as_a_browser_writes_it) == rounded(exact, currency) == exact


@given(st.decimals())
def test_any_decimal_is_an_amount_or_refused(value: Decimal) -> None:
    """No number makes it fail otherwise, and what it gives is not negative."""
    with contextlib.suppress(InvalidAmount):
        assert rounded(parse_amount(value), "EUR") >= 0


@pytest.mark.parametrize(
    ("code", "digits"), [("EUR", 2), ("JPY", 0), ("KWD", 3), ("CLF", 4), ("UYW", 4), ("XAF", 0), ("ZWG", 2)]
)
def test_minor_digits_are_the_standards(code: str, digits: int) -> None:
    """A currency in use has the decimal places that ISO 4217 gives it."""
    assert MINOR_DIGITS[code] == digits


@pytest.mark.parametrize("code", ["ANG", "BGN", "CUC", "HRK", "SLL", "ZWL", "DEM", "XAU", "XDR", "XTS"])
def test_what_nobody_pays_with(code: str) -> None:
    """Withdrawn codes, and those of metals, accounts and tests, are refused."""
    with pytest.raises(InvalidCurrency):
        parse_currency(code)


@pytest.mark.parametrize("value", ["", "EU", "EURO", "XXX", "???", None, 978, "ＥＵＲ"])
def test_what_is_no_currency(value: object) -> None:
    """Codes that ISO 4217 has not, and other types, are refused."""
    with pytest.raises(InvalidCurrency):
        parse_currency(value)


def test_currencies_are_written_in_capitals() -> None:
    """A code in lower case is the same currency."""
    assert parse_currency("eur") == "EUR"
