"""Host names in their one stored form."""

import time

import pytest

from backend.domain.web.host_names import InvalidHostName, normalize_host


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("go.shop.com", "go.shop.com"),
        ("GO.Shop.COM:8080", "go.shop.com"),
        ("go.shop.com.", "go.shop.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        (" go.localhost ", "go.localhost"),
        ("Straße.de", "xn--strae-oqa.de"),
        ("go。shop。com", "go.shop.com"),
        ("🔗.example", "xn--qv8h.example"),
        ("ü." + "a" * 63 + ".com.", "xn--tda." + "a" * 63 + ".com"),
    ],
)
def test_one_form(text: str, stored: str) -> None:
    """Case, port, a trailing dot and the script do not make another host; browsers write names so."""
    assert normalize_host(text) == stored


@pytest.mark.parametrize(
    "text",
    [
        "", ".", "a..b", "-a.com", "a_b.com", "a b.com", "a/b", "x" * 64 + ".com", "a." * 127 + "com",
        "ü" * 64 + ".com", "ü." * 127 + "com", "\u0301a.com", "ﷺ.com", "a\u200db.com", "ﬃ" * 15_000,
    ],
)  # fmt: skip
def test_what_is_no_host_name(text: str) -> None:
    """What DNS could not hold is refused."""
    with pytest.raises(InvalidHostName):
        normalize_host(text)


def test_a_long_name_costs_nothing() -> None:
    """Lengths are checked before a name is written in punycode, whose time grows with their square."""
    for name in ("ﬃ" * 15_000, "ü" * 30_000, "ü." * 15_000, "a." * 30_000 + "ü"):
        began = time.thread_time()
        with pytest.raises(InvalidHostName):
            normalize_host(name)
        assert time.thread_time() - began < 0.25  # a hundredth of it as it is; seconds otherwise
