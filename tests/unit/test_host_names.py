"""Host names in their one stored form."""

import pytest

from backend.domain.host_names import InvalidHostName, normalize_host


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("go.shop.com", "go.shop.com"),
        ("GO.Shop.COM:8080", "go.shop.com"),
        ("go.shop.com.", "go.shop.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        (" go.localhost ", "go.localhost"),
    ],
)
def test_one_form(given: str, stored: str) -> None:
    """Case, port, a trailing dot and the script do not make another host."""
    assert normalize_host(given) == stored


@pytest.mark.parametrize(
    "given", ["", ".", "a..b", "-a.com", "a_b.com", "a b.com", "a/b", "x" * 64 + ".com", "a." * 127 + "com"]
)
def test_what_is_no_host_name(given: str) -> None:
    """What DNS could not hold is refused."""
    with pytest.raises(InvalidHostName):
        normalize_host(given)
