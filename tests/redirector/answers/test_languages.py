"""The language of the pages that visitors see."""

from __future__ import annotations

import httpx
import pytest

from backend.visitor_pages.languages import DEFAULT, language_of, texts_in

LANGUAGES = ["en", "de", "fr", "es"]


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (b"", "en"),
        (b"de", "de"),
        (b"de-AT", "de"),
        (b"FR-ca", "fr"),
        (b"de-DE,de;q=0.9,en;q=0.8", "de"),
        (b"ja,fr;q=0.5,de;q=0.7", "de"),
        (b"ja, fr; q=0.5, de; q=0.7", "de"),
        (b"fr;q=0,es;q=0.1", "es"),
        (b"ja", "en"),
        (b"*", "en"),
        (b"de;q=nan,fr;q=0.1", "fr"),
        (b"de;q=inf", "en"),
        (b"\xff\xfe;;;,,q=", "en"),
        (b"x," * 5000 + b"de", "en"),
    ],
)
def test_the_language_that_the_visitor_likes_best(header: bytes, language: str) -> None:
    """By weight, regions aside; English where we have none of them, or the header says nothing."""
    assert language_of(header) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_text(language: str) -> None:
    """No visitor meets a page whose words are missing."""
    texts, original = texts_in(language), texts_in(DEFAULT)
    assert texts.keys() == original.keys()
    assert all(title for title, _ in texts.values())
    # A button has no sentence, in any language.
    assert {name for name, (_, sentence) in texts.items() if not sentence} == {
        "report",
        "leads_on",
        "get_app",
    }


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_error_page_is_in_the_visitor_s_language(visitor: httpx.AsyncClient, language: str) -> None:
    """Its words and its lang attribute agree."""
    answer = await visitor.get("/nothing-here", headers={"accept-language": f"{language};q=0.8, xx"})
    assert f'<html lang="{language}">' in answer.text
    assert texts_in(language)["not_found"][0] in answer.text
