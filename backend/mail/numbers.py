"""Numbers, changes and times as they are written in a language (CLDR, by Babel)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from babel import Locale
from babel.dates import format_date, format_datetime, format_interval, format_skeleton, format_timedelta
from babel.numbers import format_currency, format_decimal, format_percent

from backend.domain.analytics.answer import Value, Values
from backend.domain.analytics.changes import MeasureChange, Numeric, change_of
from backend.domain.analytics.measures import Measure, Unit
from backend.domain.analytics.period import QueryPeriod, TimeField
from backend.domain.fields.money import minor_digits
from backend.domain.mail.language import Language
from backend.mail.texts import text_in

NO_NUMBER = "–"
_MINUS = "−"
_NOT_ZERO = "123456789"
_SMALL_PART = 0.1
_MORE_DIGITS = 2  # of amounts of a click
_DIGITS_OF_PERCENT = 2


def lines_of(measure: Measure, value: Value, currency: str | None, language: Language) -> list[str]:
    """A value of a measure, with a line for each currency. `currency` is that of a plain amount."""
    if value is None:
        return [NO_NUMBER]
    if isinstance(value, Mapping):
        return [
            _amount(measure, Decimal(str(amount)), code, language) for code, amount in sorted(value.items())
        ] or ["0"]
    if measure.is_money and currency:
        return [_amount(measure, Decimal(str(value)), currency, language)]
    return [_number(measure, value, language)]


def change_in_words(
    measure: Measure, now: Values, before: Values, currency: str | None, language: Language
) -> str:
    """How a value changed: by a percentage, or by a difference if what was before is too small.

    "" where there was nothing before and is nothing now, and for amounts in several currencies, which have no
    change in one number.
    """
    used = _currencies(now[measure]) | _currencies(before[measure])
    if len(used) > 1:
        return ""
    used_currency = next(iter(used), currency or "")
    change = change_of(measure, now, before, used_currency)
    if change is None or not (change.before or change.difference):
        return ""
    if not change.difference:
        return text_in(language, "words", "no_change")
    size = _size(measure, change, used_currency, language)
    if not any(digit in _NOT_ZERO for digit in size):  # nothing is left of it in as many digits as are told
        return text_in(language, "words", "about_same")
    return f"{'+' if change.difference > 0 else _MINUS}{size}"


def period_in(language: Language, period: QueryPeriod) -> str:
    """The first and the last day of a period, such as "2.–8. März 2026"."""
    first = period.start.astimezone(period.zone).date()
    last = (period.end.astimezone(period.zone) - timedelta(microseconds=1)).date()
    if first.day == 1 and period.whole_months == 1:
        return str(format_skeleton("yMMMM", first, locale=language.value))
    return str(format_interval(first, last, "yMMMd", locale=language.value))


def day_in(language: Language, at: datetime | date) -> str:
    """A date in words."""
    return str(format_date(at, "long", locale=language.value))


def part_of_time_in(language: Language, field: TimeField, label: str) -> str:
    """What an answer calls a day, week, month or hour, in words."""
    if field is TimeField.MONTH:
        return str(format_skeleton("yMMMM", date.fromisoformat(f"{label}-01"), locale=language.value))
    if field is TimeField.HOUR:
        local = datetime.fromisoformat(label).replace(tzinfo=UTC)  # as the clock there showed it
        return str(format_datetime(local, "short", tzinfo=UTC, locale=language.value))
    return str(format_skeleton("yMMMEd", date.fromisoformat(label), locale=language.value))


def duration_in(language: Language, took: timedelta) -> str:
    """How long something took, in its largest unit, such as "3 hours"."""
    return str(format_timedelta(took, threshold=1.5, locale=language.value))


def percent_in(language: Language, part: float) -> str:
    """A share, with a decimal below ten percent."""
    return _percent(part, 1 if 0 < part < _SMALL_PART else 0, language)


def country_in(language: Language, code: str) -> str:
    """The name of a country by its code of two letters."""
    return str(Locale.parse(language.value).territories.get(code, code))


def language_name(language: Language) -> str:
    """What a language is called in English."""
    return str(Locale.parse(Language.EN.value).languages[language.value])


def own_language_name(language: Language) -> str:
    """What a language is called in itself."""
    return str(Locale.parse(language.value).languages[language.value])


def whole_number(number: int, language: Language) -> str:
    """A whole number."""
    return str(format_decimal(number, locale=language.value))


def _currencies(value: Value) -> set[str]:
    return set(value) if isinstance(value, Mapping) else set()


def _amount(measure: Measure, amount: Decimal, currency: str, language: Language) -> str:
    if measure.unit is Unit.RETURN:
        return str(format_decimal(amount, "#,##0.00", locale=language.value))
    digits = minor_digits(currency)
    if measure.unit is Unit.AMOUNT_PER_CLICK:
        digits += _MORE_DIGITS
    number = f"{'#,##0.' if digits else '#,##0'}{'0' * digits}"
    pattern = f"¤{number}" if language is Language.EN else f"{number} ¤"
    return str(format_currency(amount, currency, pattern, locale=language.value, currency_digits=False))


def _number(measure: Measure, value: Numeric, language: Language) -> str:
    if measure.unit is Unit.SHARE:
        return _percent(float(value), _DIGITS_OF_PERCENT, language)
    return str(format_decimal(value, "#,##0.##", locale=language.value))


def _percent(part: float, digits: int, language: Language) -> str:
    pattern = f"#,##0{'.' + '0' * digits if digits else ''}"
    pattern += "%" if language is Language.EN else " %"
    return str(format_percent(part, pattern, locale=language.value))


def _size(measure: Measure, change: MeasureChange, currency: str, language: Language) -> str:
    """By how much a value changed, without the sign."""
    if change.percent is not None:
        return _percent(abs(change.percent) / 100, 0, language)
    size: Numeric = -change.difference if change.difference < 0 else change.difference
    if measure.is_money:
        return _amount(measure, Decimal(str(size)), currency, language)
    if measure.unit is Unit.SHARE:
        points = str(format_decimal(100 * float(size), "#,##0.##", locale=language.value))
        return text_in(language, "words", "points", number=points)
    return _number(measure, size, language)
