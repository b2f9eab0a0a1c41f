"""Patterns of addresses, and what they fit however an address is written."""

from __future__ import annotations

import pytest

from backend.domain.errors import InvalidField
from backend.domain.fields.address_patterns import AddressPattern, AddressPatterns


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        (
            "shop.com",
            [
                "https://shop.com",
                "http://SHOP.com.:8080/x?y#z",
                "https://a.b.shop.com/",
                "https://a_b.shop.com/",
                "https://ｓhop.com/",
            ],
            ["https://myshop.com", "https://shop.com.evil.example/", "https://evil.example/shop.com"],
        ),
        ("*.shop.com", ["https://a.shop.com", "https://a.b.shop.com"], ["https://shop.com", "https://shop.co"]),
        (
            "shop.com/sale",
            [
                "https://shop.com/sale",
                "https://www.shop.com/sale/",
                "https://shop.com/sale/a",
                "https://shop.com/x/../sale?y",
                "https://shop.com/%73ale",
                "https://shop.com/x/%2e%2E/sale",
            ],
            ["https://shop.com/sales", "https://shop.com/a/sale", "https://shop.com/sale/../other"],
        ),
        ("shop.com/*/sale*", ["https://shop.com/de/sale", "https://shop.com/a/b/sales/1"], ["https://shop.com/sale"]),
        ("shop.com/a*b*c", ["https://shop.com/abxbc/d", "https://shop.com/abc"], ["https://shop.com/acb"]),
        ("straße.de", ["https://xn--strae-oqa.de/", "https://STRASSE.straße.de"], ["https://strasse.de"]),
        ("127.0.0.1", ["http://127.0.0.1/", "http://0x7f.1/", "http://2130706433/", "http://017700000001/"], ["http://127.0.0.2/"]),
        ("[::1]", ["http://[::1]:80/", "http://[0:0:0:0:0:0:0:1]/"], ["http://[::2]/"]),
    ],
)  # fmt: skip
def test_what_a_pattern_fits(pattern: str, fits: list[str], fits_not: list[str]) -> None:
    """A host with all below it, what is below it alone, or part of its paths; in every way to write them."""
    patterns = AddressPatterns.of([AddressPattern().parse("allowed", pattern), "other.example"])
    stored = AddressPattern().parse("", pattern)
    assert {url: patterns.find(url) for url in fits} == dict.fromkeys(fits, stored)
    assert {url: patterns.find(url) for url in fits_not} == dict.fromkeys(fits_not)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (" HTTPS://Shop.com/ ", "shop.com"),
        ("*.Bücher.example", "*.xn--bcher-kva.example"),
        ("shop.com/Sale//", "shop.com/Sale"),
        ("0x7F.1", "127.0.0.1"),
        ("[0:0::1]", "[::1]"),
    ],
)
def test_the_form_in_which_patterns_are_stored(text: str, stored: str) -> None:
    """One form for all ways to write a pattern, which stays as it is when it is read again."""
    assert AddressPattern().parse("allowed", text) == stored
    assert AddressPattern().parse("allowed", stored) == stored


@pytest.mark.parametrize(
    "text", ["", "*", "*.", "shop .com", "a*b.com", "shop.com/a?b", "shop.com/ü", "[::g]", 5]
)
def test_what_is_no_pattern(text: object) -> None:
    """It is refused by the name of its field."""
    with pytest.raises(InvalidField, match=r"^allowed must be a"):
        AddressPattern().parse("allowed", text)
