"""The fields of a link domain's settings."""

from __future__ import annotations

import re

import pytest

from backend.domain.domains.input import DOMAIN_FIELDS
from backend.domain.domains.settings import OwnText, PageLanguage, PageText
from backend.domain.errors import FieldError


def test_values_are_stored_in_one_form() -> None:
    """Colors in six digits, images in ASCII, lines without blanks at their ends."""
    brand = DOMAIN_FIELDS["brand"].parse(
        "brand", {"name": "", "color": "#Abc", "logo_url": "https://bücher.example/ü.svg"}
    )
    assert brand == {
        "name": None,
        "color": "#aabbcc",
        "logo_url": "https://xn--bcher-kva.example/%C3%BC.svg",
    }
    assert DOMAIN_FIELDS["robots_txt"].parse("r", "User-agent: * \r\nDisallow: /\r\n\r\n") == (
        "User-agent: *\nDisallow: /\n"
    )
    texts = {"de": {"not_found": {"title": "Nichts", "text": "Hier ist nichts."}}, "fr": {}}
    assert DOMAIN_FIELDS["texts"].parse("texts", texts) == {
        PageLanguage.GERMAN: {OwnText.NOT_FOUND: PageText("Nichts", "Hier ist nichts.")}
    }


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("brand", {"color": "red"}, "brand.color must be a colour in hexadecimal digits"),
        ("brand", {"logo_url": "http://shop.example/a.png"}, "brand.logo_url must be an https URL"),
        ("brand", {"logo_url": "https://a.example/a.png#b"}, "brand.logo_url must not have a fragment"),
        ("brand", {"colour": "#fff"}, "brand.colour is not a field of this request"),
        ("brand", "Shop", "brand must be an object"),
        ("texts", {"it": {}}, "texts.it is not a field of this request"),
        ("texts", {"de": {"held": {}}}, "texts.de.held is not a field of this request"),
        ("texts", {"de": {"password": {"title": "x"}}}, "texts.de.password.text field is required"),
        ("texts", {"de": {"password": {"title": "\u202e", "text": "x"}}}, "bidirectional"),
        ("root_url", "javascript:alert(1)", "root_url must be an absolute http or https URL"),
        ("robots_txt", "a" * 5000, "robots_txt must have at most 4000 characters"),
    ],
)
def test_what_breaks_a_rule_is_named(field: str, value: object, said: str) -> None:
    """By the field's whole name and the rule."""
    with pytest.raises(FieldError, match=re.escape(said)):
        DOMAIN_FIELDS[field].parse(field, value)
