"""Web origins and their wildcards."""

import pytest

from backend.domain.accounts.origins import InvalidOrigin, origin_matches, parse_origin


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("https://Shop.com/", "https://shop.com"),
        ("https://shop.com:443", "https://shop.com"),
        ("http://localhost:8081", "http://localhost:8081"),
        ("https://*.shop.com", "https://*.shop.com"),
    ],
)
def test_one_form(text: str, stored: str) -> None:
    """An origin is stored as browsers send it."""
    assert parse_origin(text) == stored


@pytest.mark.parametrize(
    "text",
    [
        "shop.com",
        "null",
        "*",
        "https://",
        "https://shop.com/path",
        "https://u@shop.com",
        "https://a.*.com",
        "ftp://a",
        "https://256.1.1.1",
        "https://1.2.3.4.5",
        "https://xn--a.com",
        "https://*.shop.1",
        "https://[::1",
        "https://shop\u2100.com",
    ],
)
def test_what_is_no_origin(text: str) -> None:
    """What no browser sends as an origin is refused."""
    with pytest.raises(InvalidOrigin):
        parse_origin(text)


@pytest.mark.parametrize(
    ("origin", "pattern", "matches"),
    [
        ("https://shop.com", "https://shop.com", True),
        ("https://shop.com.evil.example", "https://shop.com", False),
        ("http://shop.com", "https://shop.com", False),
        ("https://www.shop.com", "https://*.shop.com", True),
        ("https://a.b.shop.com", "https://*.shop.com", True),
        ("https://shop.com", "https://*.shop.com", False),
        ("https://evilshop.com", "https://*.shop.com", False),
        ("https://evil.example/.shop.com", "https://*.shop.com", False),
        ("null", "https://*.shop.com", False),
    ],
)
def test_matching(origin: str, pattern: str, matches: bool) -> None:
    """An origin matches itself, a wildcard matches subdomains only, look-alikes match nothing."""
    assert origin_matches(origin, pattern) is matches
