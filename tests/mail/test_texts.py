"""The texts of mails in all languages, and numbers as each writes them."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from backend.domain.analytics.answer import Value
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import TimeField
from backend.domain.analytics.query import Field
from backend.domain.mail.language import Language
from backend.mail.numbers import change_in_words, lines_of, part_of_time_in
from backend.mail.texts import sections_in

WORD = re.compile(r"\{\w+\}")


@pytest.mark.parametrize("language", Language)
def test_no_text_is_forgotten(language: Language) -> None:
    """Each language has the texts of English with the same words to fill in, and all measures and fields."""
    texts, english = sections_in(language), sections_in(Language.EN)
    assert texts.keys() == english.keys()
    for section, names in english.items():
        assert texts[section].keys() == names.keys()
        for name, text in names.items():
            assert set(WORD.findall(texts[section][name])) == set(WORD.findall(text)), name
    assert texts["measures"].keys() == set(Measure)
    assert texts["fields"].keys() == set(Field)


@pytest.mark.parametrize(
    ("measure", "value", "english", "german"),
    [
        (Measure.CLICKS, 12345, ["12,345"], ["12.345"]),
        (Measure.CONVERSIONS, 1.5, ["1.5"], ["1,5"]),
        (Measure.CONVERSION_RATE, 0.0123, ["1.23%"], ["1,23 %"]),
        (Measure.CONVERSION_RATE, None, ["–"], ["–"]),
        (
            Measure.REVENUE,
            {"EUR": Decimal("1234.5"), "JPY": Decimal(7)},
            ["€1,234.50", "¥7"],
            ["1.234,50 €", "7 ¥"],
        ),
        (Measure.REVENUE, {}, ["0"], ["0"]),
        (Measure.REVENUE_PER_CLICK, {"EUR": Decimal("0.0123")}, ["€0.0123"], ["0,0123 €"]),
    ],
)  # fmt: skip
def test_numbers(measure: Measure, value: Value, english: list[str], german: list[str]) -> None:
    """Counts, rates and amounts are written as in the language, a currency with its own decimals."""
    assert lines_of(measure, value, None, Language.EN) == english
    assert lines_of(measure, value, None, Language.DE) == german


@pytest.mark.parametrize(
    ("measure", "now", "before", "english", "german"),
    [
        (Measure.CLICKS, 150, 100, "+50%", "+50 %"),
        (Measure.CLICKS, 50, 100, "−50%", "−50 %"),
        (Measure.CLICKS, 484, 1, "+483", "+483"),
        (Measure.CLICKS, 5, 5, "no change", "unverändert"),
        (Measure.CLICKS, 1234, 1231, "about the same", "etwa gleich"),
        (Measure.CONVERSION_RATE, 0.50001, 0.5, "about the same", "etwa gleich"),
        (Measure.CLICKS, 0, 0, "", ""),
        (Measure.REVENUE, {"EUR": Decimal(3)}, {}, "+€3.00", "+3,00 €"),
        (Measure.REVENUE, {"EUR": Decimal(3), "USD": Decimal(1)}, {"EUR": Decimal(3)}, "", ""),
        (Measure.CONVERSION_RATE, None, 0.5, "", ""),
    ],
)  # fmt: skip
def test_changes(measure: Measure, now: Value, before: Value, english: str, german: str) -> None:
    """By a percentage, or by the difference from a base that is too small for one; never by 0 %."""
    for language, words in ((Language.EN, english), (Language.DE, german)):
        assert change_in_words(measure, {measure: now}, {measure: before}, None, language) == words


def test_parts_of_the_time() -> None:
    """Days, months and hours are named in the language."""
    assert part_of_time_in(Language.DE, TimeField.MONTH, "2026-03") == "März 2026"
    assert part_of_time_in(Language.DE, TimeField.DAY, "2026-03-02") == "Mo., 2. März 2026"
    assert part_of_time_in(Language.EN, TimeField.DAY, "2026-03-02") == "Mon, Mar 2, 2026"
    assert "14:00" in part_of_time_in(Language.DE, TimeField.HOUR, "2026-03-02T14:00+01:00")
