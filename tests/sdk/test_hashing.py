"""The form in which e-mail addresses and phone numbers are hashed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.pure_modules import js, load

HASHING = load("hashing")
PHONES = st.text("+0123456789 -()./ext", max_size=25)


@pytest.mark.parametrize(
    "email", ["john_smith@gmail.com", " John_Smith@Gmail.com ", "JOHN_SMITH@GMAIL.COM\n"]
)
def test_an_address_has_one_form(email: str) -> None:
    """Space around it and capitals do not matter."""
    assert HASHING.normal_email(js(email)) == "john_smith@gmail.com"


@pytest.mark.parametrize(
    ("phone", "normal"),
    [
        ("+1 (650) 555-1212", "+16505551212"),
        (" +16505551212 ", "+16505551212"),
        ("650.555.1212", "6505551212"),
        ("1+650", "1650"),
        ("++1", "+1"),
        ("(+1)650", "1650"),
        ("", ""),
    ],
)
def test_a_number_has_one_form(phone: str, normal: str) -> None:
    """Its digits, and the + that it starts with."""
    assert HASHING.normal_phone(js(phone)) == normal


@given(PHONES)
def test_a_normal_number_is_digits_and_stays(phone: str) -> None:
    """Nothing but digits behind an optional +, every digit kept; normal numbers stay as they are."""
    normal = HASHING.normal_phone(js(phone))
    assert re.fullmatch(r"\+?[0-9]*", normal)
    assert re.sub(r"\D", "", normal) == re.sub(r"\D", "", phone)
    assert normal.startswith("+") == phone.strip().startswith("+")
    assert HASHING.normal_phone(normal) == normal
