"""Addresses that visitors fill in: the host is the link's, whatever visitors send."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.destination_templates import (
    LONGEST_ADDRESS,
    DestinationAddress,
    fill_in,
    is_rest,
    parameters_in,
)
from tests.examples import examples

RULE = DestinationAddress()
# What could lead elsewhere, or end a header, as a visitor may send it.
PIECES = [
    *(
        "..",
        ".",
        "%2e",
        "%2E%2e",
        "/",
        "//",
        "%2f",
        "\\",
        "%5C",
        "@",
        "evil.example",
        ":",
        ":80",
        "?",
        "#",
        "&",
    ),
    *("%0d%0a", "\r\n", "%00", "%", "%zz", "+", "=", ";", "a", "ä", "%C3%A4", "%F0", "{path}", "{query.a}"),
    "x" * 700,
]
TRICKS = st.lists(st.sampled_from(PIECES), max_size=7).map("".join)
TEMPLATES = st.sampled_from(
    [
        "https://shop.example/{path}",
        "https://shop.example/a{path}/b?c={path}#{path}",
        "https://shop.example/{query.a}/{query.b}",
        "https://shop.example/{query.a}{query.b}/x",
        "https://shop.example?{query.a}={query.b}",
        "https://shop.example#{query.a}",
        "https://shop.example:8443/.{query.a}/{path}",
        "https://shop.example",
        "https://shop.example/x/?y=1#z",
    ]
)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://shop.example/{path}", None),
        ("HTTPS://shop.example:8443?q={query.ref}&p={query.a.b-c_d~e}", None),
        ("https://bücher.example/ä#{query.ref}", None),
        ("https://shop.example{path}", "only behind its host"),
        ("https://{query.host}/", "only behind its host"),
        ("https://shop.{query.tld}/", "only behind its host"),
        ("https://shop.example:{query.port}/", "only behind its host"),
        ("https://shop.example@{query.host}/", "only behind its host"),
        (r"https://shop.example\{query.host}/", "only behind its host"),
        ("{path}", "only behind its host"),
        ("https://user@shop.example/{path}", "user name"),
        ("https://shop.example/{foo}", "possible are {path} and {query.NAME}"),
        ("https://shop.example/{query.}", "possible are {path} and {query.NAME}"),
        ("https://shop.example/{query.cl_link_id}", "can't set"),
        ("https://shop.example/{path", "absolute http"),
        ("https://shop.example/{{path}}", "absolute http"),
        ("https://shop.example/" + "{path}" * 11, "at most 10"),
        ("https://shop.example/" + "x" * 8190 + "{path}", "8192 bytes"),
        ("javascript:{path}", "only behind its host"),
    ],
)
def test_where_placeholders_may_stand(url: str, reason: str | None) -> None:
    """Behind the host, of known names, and few: the error says what is wrong."""
    if reason is None:
        assert RULE.parse("destination_url", url) == url
        return
    with pytest.raises(InvalidField, match=re.escape(reason)):
        RULE.parse("destination_url", url)


@pytest.mark.parametrize(
    ("url", "rest", "query", "expected"),
    [
        ("https://a.example/x?y=1#z", "r/s", "", "https://a.example/x/r/s?y=1#z"),
        ("https://a.example/x/", "r/", "", "https://a.example/x/r/"),
        ("https://a.example?y", "r", "", "https://a.example/r?y"),
        ("https://a.example/x", "", "a=1", "https://a.example/x"),
        ("https://a.example/{path}.html", "r/s%20t", "", "https://a.example/r/s%20t.html"),
        ("https://a.example/?q={path}", "r/s%20t", "", "https://a.example/?q=r%2Fs%20t"),
        ("https://a.example/{query.a}", "", "b=1&a=x+y%2Fz&a=2", "https://a.example/x%20y%2Fz"),
        ("https://a.example/{query.a}/{path}", "", "", "https://a.example//"),
        ("https://a.example/?q={query.ä}", "", "%C3%A4=1", None),
        ("https://a.example/?q={query.a}", "", "%61=%F0%9f%90%88", "https://a.example/?q=%F0%9F%90%88"),
        ("https://a.example/?q={query.a}", "", "a", "https://a.example/?q="),
        ("https://a.example/{query.a}/x", "", "a=..", None),
        ("https://a.example/{query.a}./x", "", "a=.", None),
        ("https://a.example/?q={query.a}", "", "a=" + "x" * 2049, None),
        ("https://a.example/?q=" + "y" * 7000 + "{query.a}", "", "a=" + "x" * 2000, None),
    ],
)
def test_what_is_filled_in(url: str, rest: str, query: str, expected: str | None) -> None:
    """The rest as it was sent in a path, everything else as text; a missing parameter is the empty text."""
    if "ä" in url:
        with pytest.raises(InvalidField):
            RULE.parse("destination_url", url)
    else:
        assert fill_in(url, rest, query, forwards_path=True) == expected


@settings(max_examples=examples(80), deadline=None)
@given(template=TEMPLATES, rest=TRICKS, first=TRICKS, second=TRICKS)
def test_visitors_change_neither_host_nor_scheme(template: str, rest: str, first: str, second: str) -> None:
    """Nor do they climb out of the path, end a header, add a parameter, or make an endless address."""
    RULE.parse("destination_url", template)
    rest = rest if is_rest(rest) else ""
    query = f"a={first}&b={second}"
    address = fill_in(template, rest, query, forwards_path=True)
    if address is None:
        return
    before, after = urlsplit(template), urlsplit(address)
    assert (after.scheme, after.netloc) == (before.scheme, before.netloc)
    assert address.isascii()
    assert len(address) <= LONGEST_ADDRESS
    assert not re.search(r"[\x00-\x20\\{}<>\"]", address)
    segments = [segment.lower().replace("%2e", ".") for segment in after.path.split("/")]
    assert not {".", ".."} & set(segments)
    # A template without a parameter of its own gets none, and no fragment.
    assert after.query.count("&") == before.query.count("&")
    assert after.query.count("=") <= max(1, before.query.count("="))
    assert bool(after.fragment) <= bool(before.fragment)


@settings(max_examples=examples(80), deadline=None)
@given(TRICKS)
def test_what_may_follow_a_path(text: str) -> None:
    """No empty segment but the last, no dots, no hidden slash, backslash, control character or end of it."""
    if is_rest(text):
        assert re.fullmatch(r"[A-Za-z0-9._~!$&'()*+,;=:@%/-]*", text)
        assert "//" not in text
        assert not text.startswith("/")
        assert not re.search(r"%(?![0-9A-Fa-f]{2})|%(2f|5c|0d|0a|00)", text, re.IGNORECASE)


def test_the_parameters_of_an_address() -> None:
    """Their names are known, so that they are not passed on besides."""
    assert parameters_in("https://a.example/{path}?x={query.x}&y={query.y.z}{query.x}") == {"x", "y.z"}
    assert parameters_in("https://a.example/") == set()
