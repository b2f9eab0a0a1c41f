"""Amounts of money: exact decimals in the major unit of an ISO 4217 currency."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

from iso4217 import Currency

# Above this an amount is a mistake, and below it every amount fits Decimal128 with its minor digits.
LARGEST = Decimal(10) ** 12
# JavaScript's numbers hold 15 decimal digits faithfully; what differs beyond them is noise of its arithmetic.
_FAITHFUL = Context(prec=15, rounding=ROUND_HALF_EVEN)

# How many decimal places a currency in use has; what has none (gold, test codes) is nothing to pay with.
MINOR_DIGITS: dict[str, int] = {
    currency.code: currency.exponent for currency in Currency if currency.exponent is not None
}


class InvalidAmount(ValueError):
    """The amount breaks a rule; the message completes a sentence that begins with the field's name."""


class InvalidCurrency(ValueError):
    """The text is not a currency; the message completes a sentence that begins with the field's name."""


def parse_currency(value: object) -> str:
    """The ISO 4217 code in capitals; raises InvalidCurrency."""
    code = value.upper() if isinstance(value, str) else ""
    if code not in MINOR_DIGITS:
        raise InvalidCurrency("must be an ISO 4217 currency code, such as EUR")
    return code


def parse_amount(value: object) -> Decimal:
    """An amount in major units, as it was meant; raises InvalidAmount.

    `value` is a number as JSON gives it, read as Decimal and never as float. Digits beyond the fifteenth are
    rounded away: 0.1 + 0.2 is 0.30000000000000004 in a browser and means 0.30.
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise InvalidAmount("must be a number, in major units")
    amount = Decimal(value)
    if not amount.is_finite() or (amount.is_signed() and amount):
        raise InvalidAmount("must be a finite number of 0 or more")
    if amount > LARGEST:
        raise InvalidAmount(f"must be at most {LARGEST:f}")
    return _FAITHFUL.plus(abs(amount))


def rounded(amount: Decimal, currency: str) -> Decimal:
    """An amount that `parse_amount` gave with the currency's minor digits; a half goes to the even digit."""
    return amount.quantize(Decimal(1).scaleb(-MINOR_DIGITS[currency]), ROUND_HALF_EVEN)
