"""Short URLs, written and read."""

import pytest

from backend.domain.short_urls import ShortUrlForm, parse_short_url


def test_the_contracts_form() -> None:
    """A short URL is https, the domain and the path."""
    assert ShortUrlForm().write("go.shop.com", "spring/sale") == "https://go.shop.com/spring/sale"
    assert ShortUrlForm().write("go.demo.localhost", "spring") == "https://go.demo.localhost/spring"


def test_links_on_a_developers_machine_can_be_opened_there() -> None:
    """With local short URLs, domains under .localhost carry http and the port; others stay as they are."""
    form = ShortUrlForm(localhost_port=8080)
    assert form.write("go.demo.localhost", "spring") == "http://go.demo.localhost:8080/spring"
    assert form.write("go.shop.com", "spring") == "https://go.shop.com/spring"
    assert form.write("golocalhost", "spring") == "https://golocalhost/spring"


@pytest.mark.parametrize(
    "text",
    [
        "https://go.shop.com/spring/sale",
        "http://go.shop.com:8080/spring/sale",
        "https://GO.shop.com./spring/sale?utm_source=x#top",
        "  https://go.shop.com/spring/sale ",
    ],
)
def test_scheme_port_case_and_query_name_no_other_link(text: str) -> None:
    """A link is named by its host and path alone."""
    assert parse_short_url(text) == ("go.shop.com", "spring/sale")


@pytest.mark.parametrize(
    "text", ["", "go.shop.com/spring", "ftp://go.shop.com/x", "https://", "https://a b/x", "https://[::1/x"]
)
def test_what_is_no_short_url(text: str) -> None:
    """A text without protocol or host is no short URL."""
    assert parse_short_url(text) is None


def test_paths_keep_their_case() -> None:
    """Paths are case-sensitive."""
    assert parse_short_url("https://go.shop.com/Spring") == ("go.shop.com", "Spring")
