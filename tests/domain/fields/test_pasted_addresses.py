"""Addresses as people paste them: taken as browsers read them, or refused with what to write instead."""

from __future__ import annotations

import time

import can_ada
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.destination_templates import DestinationAddress
from backend.domain.fields.rules import HostName, WebAddress
from backend.domain.links.destinations.web_address import encoded_address

RULES = [WebAddress(), DestinationAddress()]


def refusal(text: str) -> str:
    """The sentence with which a destination is refused."""
    with pytest.raises(InvalidField) as refused:
        DestinationAddress().parse("destination_url", text)
    return str(refused.value)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("pasted", "address"),
    [
        ("  https://shop.com/x ", "https://shop.com/x"),
        ("https://shop.com/x\r\n", "https://shop.com/x"),
        ("\u00a0https://shop.com/x\u3000\t", "https://shop.com/x"),
        ("shop.com/x", "https://shop.com/x"),
        ("www.shop.com", "https://www.shop.com"),
        ("shop.com:8443/x?a=b", "https://shop.com:8443/x?a=b"),
        ("shop.co.uk?a=1", "https://shop.co.uk?a=1"),
        ("bücher.de/ä", "https://bücher.de/ä"),
        ("//shop.com/x", "https://shop.com/x"),
        ("HTTP://Shop.com/X", "HTTP://Shop.com/X"),
        ("https://shop.com/a b", "https://shop.com/a%20b"),
        ("https://shop.com/?x=a|b", "https://shop.com/?x=a%7Cb"),
        ('https://shop.com/?q="kites"', "https://shop.com/?q=%22kites%22"),
        ("https://shop.com/a<b>`c^d", "https://shop.com/a%3Cb%3E%60c%5Ed"),
        ("https://shop.com/'a'(b)", "https://shop.com/'a'(b)"),
        ("https://shop.com/100%", "https://shop.com/100%"),
        ("https://shop.com/größe?maß=ü#ß", "https://shop.com/größe?maß=ü#ß"),
        ("https://bücher.de/", "https://bücher.de/"),
        ("https://a_b.shop.com/", "https://a_b.shop.com/"),
        ("https://[::1]:8080/", "https://[::1]:8080/"),
        ("https://https.shop.com/https://x", "https://https.shop.com/https://x"),
        ("http://http:8080/", "http://http:8080/"),
        ("https://10.0.0.1/x", "https://10.0.0.1/x"),
        ("shop.com:80/x", "http://shop.com:80/x"),
        ("shop.com:8080/x", "https://shop.com:8080/x"),
        ("<https://shop.com/x>", "https://shop.com/x"),
        (' "https://shop.com/x" ', "https://shop.com/x"),
        ("\u201eshop.com/x\u201c", "https://shop.com/x"),
        ("\u00ab https://shop.com/x \u00bb", "https://shop.com/x"),
    ],
)
def test_what_is_taken(rule: WebAddress | DestinationAddress, pasted: str, address: str) -> None:
    """Blanks around it go, a scheme is added, raw blanks and quotes are encoded, all else stays."""
    assert rule.parse("destination_url", pasted) == address
    assert can_ada.can_parse(encoded_address(address))


def test_letters_are_encoded_for_the_redirect() -> None:
    """An umlaut in a path arrives as browsers send it."""
    assert encoded_address("https://bücher.de/größe") == "https://xn--bcher-kva.de/gr%C3%B6%C3%9Fe"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mailto:ada@shop.com", "not mailto: (lead to a page that has the e-mail address)"),
        ("tel:+4930123", "not tel: (lead to a page that has the number)"),
        ("SMS:+4930123", "not SMS: (lead to a page that has the number)"),
        ("whatsapp://send?text=x", "not whatsapp: (an app opens by ios_behavior and android_behavior 2)"),
        ("myapp://x", "not myapp: (an app opens by ios_behavior"),
        (
            "https://shop.com/a\u200bb",
            "must not contain U+200B (ZERO WIDTH SPACE), which nobody sees",
        ),
        ("https://sh\u00adop.com/", "must not contain U+00AD (SOFT HYPHEN)"),
        ("\ufeffhttps://shop.com/", "must not contain U+FEFF (ZERO WIDTH NO-BREAK SPACE)"),
        ("https://shop.com/a\u00a0b", "must not contain U+00A0 (NO-BREAK SPACE)"),
        (
            "https://shop.com/a\nb",
            "must be an absolute http or https URL, without a line end (U+000A): take it out",
        ),
        ("https://shop.com/a\tb", "without a tab (U+0009): take it out"),
        ("https://shop.com/\x00", "without a control character (U+0000)"),
        ("https://shop.com/a\\b", "must be an absolute http or https URL, without \\: write / or %5C"),
        ("https:\\\\shop.com", "must be an absolute http or https URL, without \\: write / or %5C"),
        ("tel:4930123", "not tel: (lead to a page that has the number)"),
        ("sms:4930123", "not sms: (lead to a page that has the number)"),
        ("smsto:4930123", "not smsto: (lead to a page that has the number)"),
        ("ada@shop.com", "not an e-mail address (lead to a page that has the e-mail address)"),
        ("htp://shop.com", "must begin with https://"),
        ("https//shop.com", "must begin with https://"),
        ("hhttps://shop.com/x", "must begin with https://"),
        (
            "https://shop.com/?k={keyword}",
            "must not contain {keyword}: possible are {path} and {query",
        ),
        ("https://shop.com/?k={{campaign.id}}", "must not contain {campaign.id}"),
        ("https://https://shop.com/x", "must begin with https:// once"),
        ("HTTP://HTTPS//shop.com/{path}", "must begin with https:// once"),
        ('https://shop.com/?k={"a":1}', "%7B and %7D are braces"),
        ("https://shop.com/?k={", "must be an absolute http or https URL, without { or }: write %7B and %7D"),
    ],
)
def test_what_is_refused_says_why(text: str, reason: str) -> None:
    """The reason names what is wrong, and what to write instead."""
    assert reason in refusal(text)


@pytest.mark.parametrize(
    "host",
    [
        "256.256.256.256", "1.2.3.4.5", "0x1.0x1.0x1.0x1ff", "shop.1", "shop.0x", "xn--a.com", "xn--zn7c.com",
        "xn--.com", "a..com", "shop com", "a%20b.com", "a|b.com", "[::g]", "shop.com:99999",
        "\u2488com", "a\u2100b.com", "-shop.com",
    ],
)  # fmt: skip
def test_hosts_that_no_browser_opens(host: str) -> None:
    """A link to one would lead every visitor to an error of the browser."""
    assert "must be an absolute http or https URL" in refusal(f"https://{host}/")


@pytest.mark.parametrize(
    "text",
    ["shop", "/x", "?a=b", "ada@shop.com", "https://", "https:///", "http:", "..", "1.5", "ftp://shop.com/x"],
)
def test_what_is_no_address(text: str) -> None:
    """Nothing is made up where no host is named."""
    assert "must be an absolute http or https URL" in refusal(text)


@pytest.mark.parametrize("name", ["xn--a.com", "xn--zn7c.com", "go.1", "256.1.1.1"])
def test_domains_that_no_browser_opens(name: str) -> None:
    """No link domain has a name that can't be asked for."""
    with pytest.raises(InvalidField, match="must be a host name that browsers open"):
        HostName().parse("domain", name)


@pytest.mark.parametrize("part", [".", "a.", "a", "@", "h", "t", "1."])
def test_a_long_text_is_read_once(part: str) -> None:
    """A request has room for a text of many times an address's length, which holds nobody else up."""
    began = time.process_time()
    refusal(f"a@{part * (60_000 // len(part))}/")
    assert time.process_time() - began < 0.5  # some 0.02; 30 with a pattern that looks for the last dot


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_what_is_taken_opens(text: str) -> None:
    """Whatever is pasted behind a host: what is taken a browser can parse, and what redirects send, too."""
    try:
        address = WebAddress().parse("destination_url", f"https://shop.com/{text}")
    except InvalidField:
        return
    assert can_ada.can_parse(address)
    assert can_ada.can_parse(encoded_address(address))
