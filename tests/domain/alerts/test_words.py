"""Alerts in words, in each language."""

from __future__ import annotations

import inspect
import re
from datetime import UTC, datetime

import pytest

from backend.domain.alerts.rule import AlertKind
from backend.domain.alerts.texts import TEXTS, found_in
from backend.domain.alerts.words import Reader, why
from backend.domain.mail.language import Language
from backend.web_client import destination_check, page_reader

WORD = re.compile(r"\{\w+\}")
# Sentences in the code that say what is wrong with a destination, with what is filled in.
PROBLEM = re.compile(r'(?:Unreadable\(|return )f?"([^"]+)"')


@pytest.mark.parametrize("language", Language)
def test_no_text_is_forgotten(language: Language) -> None:
    """Each language has the texts of English, with the same words to fill in."""
    english = TEXTS[Language.EN]
    assert TEXTS[language].keys() == english.keys()
    for name, text in english.items():
        assert set(WORD.findall(TEXTS[language][name])) == set(WORD.findall(text)), name


def test_all_problems_of_destinations_are_told_in_german() -> None:
    """None is quoted in English, and its number stays."""
    source = inspect.getsource(page_reader) + inspect.getsource(destination_check)
    problems = [WORD.sub("451", problem) for problem in PROBLEM.findall(source)]
    assert len(problems) == 9
    for problem in problems:
        german = found_in(Language.DE, problem)
        assert german != problem
        assert ("451" in german) == ("451" in problem)


def test_what_has_no_text_is_quoted_as_it_is() -> None:
    """Also where it has braces."""
    figures = {
        "url": "https://shop.example/",
        "problem": "{is} odd 7",
        "since": datetime(2026, 3, 2, tzinfo=UTC),
    }
    said = why(AlertKind.BROKEN_DESTINATION, figures, Reader(Language.DE))
    assert said.startswith("https://shop.example/ {is} odd 7, seit ")
