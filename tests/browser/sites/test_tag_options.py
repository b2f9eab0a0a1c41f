"""The options of `init` as attributes of the script's tag, which then needs no line of code."""

from __future__ import annotations

import pytest

from tests.browser.visitor import INIT, SENTINEL, Visitor, in_chromium

HEARD = """<script>delete window.Waylink, window.heard = [];
console.warn = (...said) => heard.push(said.join(' '));
addEventListener('unhandledrejection', (event) => heard.push(event.reason.message));</script>"""

BLOB = """fetch('/waylink.js').then((answer) => answer.blob()).then((script) => new Promise((ready) => {
  const tag = document.createElement('script');
  tag.onload = () => ready(0);
  tag.src = URL.createObjectURL(script);
  document.head.append(tag);
}))"""


def open_with(visitor: Visitor, attributes: str, path: str = "/") -> None:
    """Open a page whose tag of the script has these attributes."""
    visitor.server.head = f"{HEARD}<script src=/waylink.js {attributes}></script>"
    visitor.open(path)


def test_a_tag_without_a_line_of_code_is_enough(visitor: Visitor) -> None:
    """The check of the address arrives, with the key of the tag, and nothing is said."""
    open_with(visitor, "data-api-key=c_web_test")
    (check,) = visitor.server.wait_for(1)
    assert check["kind"] == "attribution"
    assert visitor.server.requests[0]["batch"]["api_key"] == "c_web_test"
    assert visitor.js("heard") == []


def test_options_are_taken_from_the_tag(visitor: Visitor) -> None:
    """Texts, `true` as a bare name, and `false`: nothing is sent before consent, nor for a route after it."""
    open_with(visitor, "data-api-key=k data-consent-mode=required data-auto-page-tracking=false data-debug")
    assert visitor.js("Waylink.hasConsent()") is False
    visitor.js("void (console.log = (...said) => { window.logged = said[1] })")
    visitor.js("void Waylink.grantConsent()")
    visitor.js("history.pushState(null, '', '/?utm_source=news')")
    visitor.expect("attribution")
    assert visitor.js("logged") == "accepted"


@pytest.mark.parametrize(
    ("attributes", "heard"),
    [
        ("data-api-key=k data-consentmode=required", ["Waylink unknown consentmode"]),
        ("data-api-key=k data-consent-mode=yes", ["Waylink: consentMode yes"]),
        ("data-apikey=k", ["Waylink unknown apikey", "Waylink: apiKey undefined"]),
        ("data-API_KEY=k", ["Waylink unknown api_key", "Waylink: apiKey undefined"]),
        ("data-api-kye=k", ["Waylink unknown apiKye", "Waylink: apiKey undefined"]),
        ("data-api-key", ["Waylink: apiKey true"]),
        ("data-key=k", ["Waylink unknown key", "Waylink: apiKey undefined"]),
        ("data-api-key=k data-debug='yes please'", ["Waylink: debug yes please"]),
        ("data-api-key=k data-allow-iframe=no", ["Waylink: allowIframe no"]),
        ("data-api-key=k data-auto-page-tracking=off", ["Waylink: autoPageTracking off"]),
        ("data-api-key=k data-erase-on-withdrawal=1", ["Waylink: eraseOnWithdrawal 1"]),
        ("data-api-key=k data-base-url", ["Waylink: baseUrl true"]),
        ("data-outbound-links data-api-key=k", ["Waylink unknown outboundLinks"]),
    ],
)
@in_chromium
def test_what_is_misspelt_is_named(visitor: Visitor, attributes: str, heard: list[str]) -> None:
    """The console names each attribute that is no option, the key's too, and each value that is wrong."""
    open_with(visitor, attributes)
    visitor.js("new Promise((over) => setTimeout(over, 20))")
    assert [text.rstrip() for text in visitor.js("heard")] == heard


@in_chromium
def test_other_attributes_are_not_ours(visitor: Visitor) -> None:
    """A tag without a key is left to the call of `init`, whatever other tools wrote on it."""
    open_with(
        visitor, "data-cfasync=false data-cookieconsent=ignore data-site=api.shop.example data-sitekey=k"
    )
    visitor.js(INIT)
    visitor.expect("attribution")
    assert visitor.js("heard") == []


@in_chromium
@pytest.mark.parametrize(("value", "is_on"), [("true", True), ("", True), ("false", False)])
def test_on_and_off(visitor: Visitor, value: str, *, is_on: bool) -> None:
    """`true` or no value switches an option on, `false` switches it off, and nothing is said of them."""
    open_with(visitor, f"data-api-key=k data-auto-page-tracking='{value}'")
    visitor.js("Waylink.flush()")
    visitor.js("history.pushState(null, '', '/?utm_source=news')")
    visitor.expect("attribution", *["attribution"] * is_on)
    assert visitor.js("heard") == []


@in_chromium
def test_the_parts_take_their_options_from_it_too(visitor: Visitor) -> None:
    """A part that stands above the script finds its option on the script's tag."""
    visitor.server.head = (
        f"{HEARD}<script src=/waylink-links.js></script><script src=/waylink-domains.js></script>"
        "<script src=/waylink-privacy.js></script><script src=/waylink.js data-api-key=k data-outbound-links "
        "data-other-domains='blog.example, shop.example' data-privacy-control=ignore></script>"
    )
    visitor.open()
    assert visitor.js("[Waylink.outboundLinks, Waylink.otherDomains]") == [
        True,
        ["blog.example", "shop.example"],
    ]
    visitor.js(SENTINEL)
    assert visitor.js("heard") == []


def test_a_blob_is_no_address(visitor: Visitor) -> None:
    """Where the script's address is none that answers, calls go to the page's origin, and that is said."""
    visitor.server.head = HEARD
    visitor.open()
    visitor.js(BLOB)
    visitor.js(INIT)
    visitor.expect("attribution")
    assert [text.rstrip() for text in visitor.js("heard")] == ["Waylink baseUrl"]
