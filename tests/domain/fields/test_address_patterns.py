"""Patterns of addresses, and what they fit however an address is written."""

from __future__ import annotations

import pytest

from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.address_patterns import AddressPattern, AddressPatterns


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
    ("pattern", "stored", "fits", "fits_not"),
    [
        (
            "HTTPS://Shop.com:443/",
            "https://shop.com",
            ["https://shop.com/a", "https://a.shop.com:443", "HTTPS://shop.com"],
            ["http://shop.com", "http://shop.com:8443/", "https://shop.com:8443/", "http://shop.com:443/"],
        ),
        (
            "http://*.shop.com:8443/in/*",
            "http://*.shop.com:8443/in/*",
            ["http://a.shop.com:8443/in/x"],
            ["http://a.shop.com/in/x", "https://a.shop.com:8443/in/x", "http://a.shop.com:8443/out"],
        ),
        ("shop.com:443", "shop.com:443", ["https://shop.com", "http://shop.com:443"], ["http://shop.com"]),
        ("shop.com", "shop.com", ["http://shop.com:8443", "https://a.shop.com"], ["https://shop.co"]),
        ("http://[::1]:80", "http://[::1]", ["http://[0::1]/"], ["http://[::1]:81/", "https://[::1]/"]),
    ],
)
def test_patterns_of_what_is_allowed_name_an_origin(
    pattern: str, stored: str, fits: list[str], fits_not: list[str]
) -> None:
    """A scheme stands for itself and its port, a port for itself; what is not written, for all."""
    rule = AddressPattern(names_origin=True)
    assert rule.parse("allowed", pattern) == rule.parse("allowed", stored) == stored
    patterns = AddressPatterns.of([stored])
    assert {url: patterns.find(url) for url in fits} == dict.fromkeys(fits, stored)
    assert {url: patterns.find(url) for url in fits_not} == dict.fromkeys(fits_not)


@pytest.mark.parametrize("text", ["a.com:0", "a.com:65536", "a.com:x", "a.com:1:2", "https://", ":80"])
def test_what_is_no_port(text: str) -> None:
    """A pattern of an origin has a port that there is."""
    with pytest.raises(InvalidField, match=r"^allowed must be a"):
        AddressPattern(names_origin=True).parse("allowed", text)


def test_what_is_refused_is_so_with_every_scheme_and_port() -> None:
    """Whoever copies an address from a browser means the site."""
    stored = AddressPattern().parse("refused", "https://shop.com")
    for url in ("http://shop.com:8443", "https://shop.com"):
        assert AddressPatterns.of([stored]).find(url) == "shop.com"


@pytest.mark.parametrize(
    "text", ["", "*", "*.", "shop .com", "a*b.com", "shop.com/a?b", "shop.com/ü", "[::g]", 5]
)
def test_what_is_no_pattern(text: object) -> None:
    """It is refused by the name of its field."""
    with pytest.raises(InvalidField, match=r"^allowed must be a"):
        AddressPattern().parse("allowed", text)
