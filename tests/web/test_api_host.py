"""Which Host headers are the API's."""

import pytest

from backend.web.api_host import ApiHost


@pytest.mark.parametrize(
    ("host", "is_api"),
    [
        ("links.shop.com", True),
        ("LINKS.shop.com:443", True),
        ("links.shop.com.", True),
        ("localhost:8080", True),
        ("127.0.0.1:8080", True),
        ("[::1]:8080", True),
        ("go.shop.com", False),
        ("links.shop.com.evil.example", False),
        ("", False),
        ("a b", False),
        ("[nonsense", False),
    ],
)
def test_the_api_answers_on_its_own_names(host: str, is_api: bool) -> None:
    """The base URL's host, localhost and addresses are the API's; other names are link domains."""
    assert ApiHost("https://links.shop.com").owns(host) is is_api


@pytest.mark.parametrize(
    "base_url",
    [
        "https://links.Müller.example.",
        "https://links.xn--mller-kva.example",
        "https://LINKS.müller.example:8443",
    ],
)
@pytest.mark.parametrize("host", ["links.xn--mller-kva.example", "links.müller.example.:8443"])
def test_a_base_url_is_written_as_people_write_it(base_url: str, host: str) -> None:
    """With umlauts, capitals or a dot at its end, it has the host that browsers ask for."""
    assert ApiHost(base_url).owns(host)
