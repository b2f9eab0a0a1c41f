"""Amounts of money as exact decimals, in a currency's main unit (12.50 EUR, not 1250 cents; ISO 4217)."""

from __future__ import annotations

import re
from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from iso4217 import Currency

# Larger amounts are mistakes. Smaller ones fit into Decimal128 with all their decimals.
LARGEST = Decimal(10) ** 12
# JavaScript's numbers keep 15 decimal digits exactly. Further digits are errors of its arithmetic.
_FAITHFUL = Context(prec=15, rounding=ROUND_HALF_EVEN)

# An amount as text. Commas are refused: 1,299 is another amount in each of two countries.
PLAIN_TEXT = rf"10{{{len(str(LARGEST)) - 1}}}|\d{{1,{len(str(LARGEST)) - 1}}}([.]\d+)?"
_PLAIN = re.compile(PLAIN_TEXT, re.ASCII)
_LONGEST_TEXT = 256

# The decimals of each currency in use. Codes without any (gold, tests) are not for payments.
MINOR_DIGITS: dict[str, int] = {
    currency.code: currency.exponent for currency in Currency if currency.exponent is not None
}


# Currencies that have ended lately, each with its last day: sales of their time are told late, and refunded.
ENDED: dict[str, date] = {
    "ANG": date(2025, 6, 30),
    "BGN": date(2025, 12, 31),
    "BYR": date(2016, 12, 31),
    "CUC": date(2021, 6, 30),
    "HRK": date(2023, 1, 14),
    "LTL": date(2015, 1, 15),
    "MRO": date(2018, 6, 30),
    "SLL": date(2024, 3, 31),
    "STD": date(2018, 3, 31),
    "VEF": date(2018, 12, 5),
    "ZWL": date(2024, 8, 31),
}
_WITHOUT_DECIMALS = frozenset({"BYR"})
MINOR_DIGITS |= {code: 0 if code in _WITHOUT_DECIMALS else 2 for code in ENDED}


class InvalidAmount(ValueError):
    """The amount breaks a rule. The message completes a sentence that starts with the field's name."""


class InvalidCurrency(ValueError):
    """The text is not a currency. The message completes a sentence that starts with the field's name."""


def parse_currency(value: object, *, may_have_ended: bool = False) -> str:
    """The ISO 4217 code in capitals. Raises InvalidCurrency, also for one that has ended, unless it may."""
    # Other letters have capitals among these too.
    code = value.upper() if isinstance(value, str) and value.isascii() else ""
    if code not in MINOR_DIGITS or (code in ENDED and not may_have_ended):
        raise InvalidCurrency("must be an ISO 4217 currency code, such as EUR")
    return code


def refuse_ended(currency: str, day: date) -> None:
    """Raise InvalidCurrency for a currency that had ended on this day."""
    last = ENDED.get(currency)
    if last and day > last:
        raise InvalidCurrency(f"must be a currency of its time: {currency} ended on {last}")


def parse_amount(value: object) -> Decimal:
    """The amount (0 or more) in the currency's main unit, rounded to 15 digits. Raises InvalidAmount.

    `value` is a number from JSON, read as Decimal and never as float, or a text with its digits. Rounding
    corrects the errors of a browser's arithmetic: there, 0.1 + 0.2 is 0.30000000000000004, but 0.30 is meant.
    """
    if isinstance(value, str) and len(value) <= _LONGEST_TEXT and _PLAIN.fullmatch(value):
        amount = Decimal(value)
    elif isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise InvalidAmount("must be a number, in major units, or plain text such as 59.90")
    else:
        amount = Decimal(value)
    if not amount.is_finite() or (amount.is_signed() and amount):
        raise InvalidAmount("must be a finite number of 0 or more")
    if amount > LARGEST:
        raise InvalidAmount(f"must be at most {LARGEST:f}")
    return _FAITHFUL.plus(abs(amount))


def rounded(amount: Decimal, currency: str) -> Decimal:
    """An amount from `parse_amount`, rounded to the currency's decimals; halves go to the even digit."""
    return amount.quantize(Decimal(1).scaleb(-MINOR_DIGITS[currency]), ROUND_HALF_EVEN)


def digits_of(amount: Decimal, currency: str) -> int:
    """How many decimals an amount is counted with: those of its currency, or more where it has more."""
    exponent = amount.as_tuple().exponent
    return max(MINOR_DIGITS.get(currency, 0), -exponent if isinstance(exponent, int) else 0)


def in_units(amount: Decimal, digits: int) -> int:
    """An amount as a whole number of its smallest unit, which has so many decimals."""
    return int(amount.scaleb(digits))


def of_units(units: int | Fraction, digits: int) -> Decimal:
    """So many of the smallest unit as an amount in the main unit. A fraction is rounded, halves to even."""
    return Decimal(round(units)).scaleb(-digits)


def minor_digits(currency: str) -> int:
    """How many decimals amounts in the currency are shown with."""
    return MINOR_DIGITS.get(currency, 2)


def shown(amount: Fraction, currency: str, more: int = 0) -> Decimal:
    """An exact amount with its currency's decimals, or so many `more`, halves rounded to the even digit."""
    digits = minor_digits(currency) + more
    return of_units(amount * 10**digits, digits)
