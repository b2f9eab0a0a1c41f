"""Short URLs, written and read."""

import pytest

from backend.domain.web.short_urls import ShortUrlForm, parse_short_url


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


@pytest.mark.parametrize(
    "path",
    [
        "l%6Fop", "%6c%6F%6f%70", "./loop", "x/../loop", "x/%2e%2E/loop", "x/.%2e/%2E/loop", "../../loop",
        "a/b/../.././loop?q#f",
    ],
)  # fmt: skip
def test_a_path_is_read_as_browsers_and_the_redirector_read_it(path: str) -> None:
    """Percent-encoded letters are letters, and dots go up and down."""
    assert parse_short_url(f"https://go.shop.com/{path}") == ("go.shop.com", "loop")


@pytest.mark.parametrize("path", ["l%2Foop", "%", "l%6", "%25%36F", "lo\u00f6p", "x" * 3000])
def test_a_path_that_no_link_has(path: str) -> None:
    """No visitor gets to a link there, since an encoded slash is no slash."""
    assert parse_short_url(f"https://go.shop.com/{path}") is None


@pytest.mark.parametrize(
    ("path", "read"),
    [("a/..", ""), ("a/.", "a/"), ("a/b/..", "a/"), ("a//b", "a//b"), ("", ""), ("...", "...")],
)
def test_dots_at_the_end_leave_a_slash(path: str, read: str) -> None:
    """As the URL Standard has it."""
    assert parse_short_url(f"https://go.shop.com/{path}") == ("go.shop.com", read)
