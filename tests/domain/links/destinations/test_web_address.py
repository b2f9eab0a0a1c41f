"""Where a click leads in the web."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.web_address import web_address
from backend.domain.links.links import Link

NOW = datetime(2026, 1, 1, tzinfo=UTC)
END = "cl_link_id=7"
VALUES = st.text("abcXYZ019%-._~!$'()*,;:@/?=", max_size=8)
PARTS = st.lists(
    st.one_of(VALUES.map("k{}".format), st.sampled_from(["", "a", "a=1", "a=1", "b="])), max_size=6
)


def link_to(destination: str, **utm: str) -> Link:
    """A link with that destination and those UTM parameters."""
    return Link(LinkId("7"), OrgId("org"), "go.example", "a", destination, "A", NOW, NOW, utm=utm)


@pytest.mark.parametrize(
    ("destination", "query", "expected"),
    [
        ("https://a.example", "", f"https://a.example?{END}"),
        ("https://a.example/x?", "", f"https://a.example/x?{END}"),
        ("https://a.example/#/route?x=1", "y", f"https://a.example/?y&{END}#/route?x=1"),
        ("https://a.example/?b&a=1&b=", "a&a=2&&c", f"https://a.example/?b&a=1&b=&a&a=2&&c&{END}"),
        ("https://a.example/?x=%7e+%20", "y=%C3%A4", f"https://a.example/?x=%7e+%20&y=%C3%A4&{END}"),
        ("https://bücher.example:444/ä", "", f"https://xn--bcher-kva.example:444/%C3%A4?{END}"),
        ("https://straße.example/", "", f"https://xn--strae-oqa.example/?{END}"),
        ("https://shop_ü.example/", "", f"https://xn--shop_-ova.example/?{END}"),
        ("https://a.example/", "cl_link_id=other", f"https://a.example/?{END}"),
        ("https://a.example/?utm_source=d", "utm_source=v", f"https://a.example/?utm_source=v&{END}"),
        ("https://a.example/?utm_source=d", "utm%5Fsource=v", f"https://a.example/?utm%5Fsource=v&{END}"),
        ("https://a.example/", "x=\r\nset-cookie: a", f"https://a.example/?x=%0D%0Aset-cookie:%20a&{END}"),
    ],
)
def test_addresses(destination: str, query: str, expected: str) -> None:
    """The destination's parameters, the visitor's, the link's id; what is not replaced stays as written."""
    assert web_address(link_to(destination), query) == expected


def test_the_links_own_utm_stand_over_all() -> None:
    """The link's UTM value replaces the visitor's and the destination's, and is encoded."""
    link = link_to("https://a.example/?utm_source=d&utm_term=t", utm_source="a b&c")
    expected = f"https://a.example/?utm_term=t&utm_medium=m&utm_source=a%20b%26c&{END}"
    assert web_address(link, "utm_source=v&utm_medium=m") == expected


def test_the_variant_stands_last() -> None:
    """Encoded, and in place of one that visitor or destination name; without one, none is passed on."""
    link = link_to("https://a.example/?cl_variant=d")
    assert web_address(link, "cl_variant=v", "ä b") == f"https://a.example/?{END}&cl_variant=%C3%A4%20b"
    assert web_address(link, "cl_variant=v") == f"https://a.example/?{END}"


@given(destination_parts=PARTS, visitor_parts=PARTS, fragment=VALUES)
def test_everything_is_kept_in_order(
    destination_parts: list[str], visitor_parts: list[str], fragment: str
) -> None:
    """Order, repeats, valueless keys, percent-encoding and the fragment come out as they went in."""
    query = "&".join(visitor_parts)
    base = f"https://a.example/p?{'&'.join(destination_parts)}"
    kept = [
        *("&".join(destination_parts).split("&") if "&".join(destination_parts) else []),
        *(query.split("&") if query else []),
    ]
    expected = "&".join([*kept, END])
    assert web_address(link_to(f"{base}#{fragment}"), query) == f"https://a.example/p?{expected}#{fragment}"


@given(st.text(), st.text())
def test_any_text_gives_a_header_value(path: str, query: str) -> None:
    """Whatever is stored or sent, the address is printable ASCII: nothing can add a header."""
    address = web_address(link_to(f"https://a.example/{path}"), query)
    assert address.isascii()
    assert address.isprintable()
    assert " " not in address
