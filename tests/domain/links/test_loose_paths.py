"""What a visitor asks for who means a link's path."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.links.loose_paths import LoosePath, loose_path, loose_place

# What texts, mail programs and people leave around an address, percent-encoded or not.
AROUND = [
    "/", "//", ",", ")", "]", ">", "'", '"', "\u2019", "\u201d", "\u00bb", "!", "*", ":", "\\", "\u2026",
    "%20", "%0A", "%0D%0A", "%09", "%E2%80%8B", "%E2%80%8D", "%EF%BB%BF", "%C2%AD", "%C2%A0", "%E3%80%80",
    "%29", "%22", "%E2%80%9D", "%2520", "),", ".)", ")./", "%20/", "&gt;", "&quot;", "&nbsp;", "\u200b",
    "%F0%9F%98%80", "_", "*_", "_*", "~~", "__)", "-", "\u2011", "%E3%80%82", "\u3001", "%EF%BC%89", "\u300d",
    "%E2%80%8F", "%D8%8C", "](https://go.test/spring)", "%5D(https://go.test/x?a=b)", "%5D%28https:", "</a>",
    "%3C/a%3E", "%3Cbr%20/%3E", "%22%20target=%22_blank%22", "&quot;%20target=&quot;_blank", "|Sale>",
    "%7CSale", "=20", "=E2=80=8B", "%3F%3F", "???", "%3F?",
]  # fmt: skip


# What programs ask for, and nobody writes.
HARMFUL = ["/a%2F", "/a%252F", "/a%5C", "/a%00", "/a\x00", "/a%1B", "/a%FF", "/a%", "/a%zz", "/a%4"]


@pytest.mark.parametrize("around", AROUND, ids=ascii)
def test_what_stands_behind_an_address(around: str) -> None:
    """The path is found without it, and nothing of it gets into the query."""
    for path in ("spring", "summer/sale-2026"):
        found = loose_path(f"/{path}{around}")
        assert path in found.paths
        assert found.query == ""


@pytest.mark.parametrize(
    ("raw_path", "query"),
    [
        ("/spring&utm_source=x", "utm_source=x"),
        ("/spring&amp;utm_source=x&amp;utm_medium=y", "utm_source=x&utm_medium=y"),
        ("/spring%3Futm_source%3Dx", "utm_source=x"),
        ("/spring%3futm_source=x%26b%3D%2520c", "utm_source=x&b=%20c"),
        ("/spring%253Futm_source%253Dx%2526b%253Dc", "utm_source=x&b=c"),
        ("/spring/%3Fref", "ref"),
        ("/spring%26utm_source=x", "utm_source=x"),
        ("/spring%3Fa%3Db%23top", "a=b"),
        ("/spring%23top", ""),
        ("/spring%3Fq%3D%C3%A4", "q=%C3%A4"),
        ("/spring%3F%3Futm_source%3Dx", "utm_source=x"),
        ("/spring&a%5B%5D=1&b[c]=2&quot; d=3", "a%5B%5D=1&b[c]=2"),
        ("/spr%0D%0Aing&utm_source=x", "utm_source=x"),
    ],
)
def test_a_query_that_the_path_hides(raw_path: str, query: str) -> None:
    """Where a program has encoded `?`, or written `&` in its place, the parameters count as sent."""
    found = loose_path(raw_path)
    assert found == LoosePath(("spring",), query)
    assert found.with_query("c=d") == ("&".join(filter(None, [query, "c=d"])))


@pytest.mark.parametrize(
    "raw_path",
    [
        "/",
        "",
        "//",
        "/%20",
        "/..",
        "/a/../b",
        "/a%20b",
        "/sp%C3%A4t",
        "/x@y",
        "/,",
        "/a+",
        "/a+)",
        "/a%2B",
        "/a%2525253Fb%3Dc",
        *HARMFUL,
    ],
)
def test_what_means_no_link(raw_path: str) -> None:
    """Nothing is made up where a path can't have been a link's."""
    assert loose_path(raw_path).paths == ()


def test_a_long_path_is_read_once() -> None:
    """Reading takes as many steps as the path is long, whoever makes the path up."""
    began = time.process_time()
    for _ in range(20):
        assert loose_path(f"/a{'!' * 2000}a").paths == ()
        loose_path(f"/a%{'25' * 500}3F{'%25' * 300}")
    assert time.process_time() - began < 0.2  # some 0.01; 2 if it begins again, or decodes as often as asked


def test_reserved_paths_are_no_links() -> None:
    """Files of the domain stay what they are."""
    assert loose_path("/robots.txt/").paths == loose_path("/.well-known/assetlinks.json,").paths == ()


def test_the_longer_reading_comes_first() -> None:
    """A path may end with a dot; then that link is meant."""
    assert loose_path("/spring.,").paths == ("spring.", "spring")
    assert loose_path("/spring.").pick({"spring.", "spring"}, ignores_case=True) == "spring."
    assert loose_path("/spring.").pick({"spring"}, ignores_case=False) == "spring"


def test_what_a_text_does_within_a_path() -> None:
    """A wrapped line, and a hyphen as texts write it, don't hide the link."""
    for written in (
        "/kite-sale",
        "/kite%E2%80%91sale",
        "/kite\u2010sale",
        "/kite-%0D%0Asale",
        "/ki\tte-sale",
    ):
        assert loose_path(written).paths == ("kite-sale",)
    assert loose_path("/__spring__").paths == ("__spring__", "__spring")
    assert loose_path("/___").paths == ("___",)
    assert loose_path("/spring/_").paths == ("spring/_",)


def test_other_case_is_meant_where_it_is_the_only_one() -> None:
    """Of two links with the same letters none is meant, and none where the domain does not say so."""
    asked = loose_path("/SPRING")
    assert asked.pick({"Spring"}, ignores_case=True) == "Spring"
    assert asked.pick({"Spring"}, ignores_case=False) is None
    assert asked.pick({"Spring", "spring"}, ignores_case=True) is None
    assert asked.pick({"SPRING", "spring"}, ignores_case=True) == "SPRING"


@given(st.text("abC-_~.9/%2F3&?#; @\u200b\u00e4", max_size=20))
def test_any_text_means_paths_that_links_may_have(text: str) -> None:
    """Whatever is asked for, what is found is a path as links have them, or nothing."""
    for path in loose_path(text).paths:
        assert path in loose_path(path).paths
    assert loose_path(text).query.isascii()


def test_of_a_short_url() -> None:
    """The domain is in its normal form; what is no web address means nothing."""
    assert loose_place(" HTTPS://Go.Test/spring)&a=b#c ") == ("go.test", LoosePath(("spring",), "a=b"))
    assert loose_place("ftp://go.test/spring/")[1].paths == loose_place("spring/")[1].paths == ()
