"""Title, description and image of a page, as a link may have them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from backend.web_client.page_preview import preview_of
from backend.web_client.page_reader import MOST_BYTES, Page, Unreadable

URL = "https://shop.example/a/b"


def page(
    html: str | bytes, status: int = 200, media_type: str = "text/html", charset: str | None = "utf-8"
) -> Page:
    """A page at URL."""
    return Page(URL, status, media_type, charset, html.encode() if isinstance(html, str) else html)


@pytest.mark.parametrize(
    ("html", "fields"),
    [
        (
            "<title> A\n &amp; B </title><meta name=Description content='C'>",
            {"social_title": "A & B", "social_description": "C"},
        ),
        (
            "<title>T</title><meta property='og:title' content='O'><meta name='twitter:title' content='W'>"
            "<meta property=og:image content='/i.png'>",
            {"social_title": "O", "social_image_url": "https://shop.example/i.png"},
        ),
        (
            "<base href='//cdn.example/x/'><meta property=og:image content=i.png>",
            {"social_image_url": "https://cdn.example/x/i.png"},
        ),
        ("<meta property=og:image content='javascript:alert(1)'><meta property=og:title content='  '>", {}),
        (
            "<meta property=og:image content='http://user@evil.example/'><title>\u202eA\x07B</title>",
            {"social_title": "AB"},
        ),
        (f"<title>{'x' * 999}</title>", {"social_title": "x" * 299 + "…"}),
        ("<html><!-- <title>No</title> --><body><svg><title>Icon</title></svg>", {"social_title": "Icon"}),
        ("", {}),
        ("\x00\x01\x02", {}),
    ],
)  # fmt: skip
def test_what_a_page_says(html: str, fields: dict[str, str]) -> None:
    """Open Graph before Twitter's names before the page's own; what a link may not have is left out."""
    assert preview_of(page(html)) == fields


@pytest.mark.parametrize("charset", ["iso-8859-1", None, "no-such-charset", "rot13", "utf-8-sig"])
def test_how_a_page_is_encoded(charset: str | None) -> None:
    """As the server says, where the parser knows that encoding; else as the page itself does."""
    html = "<meta charset=iso-8859-1><title>Größe</title>".encode("latin-1")
    assert preview_of(page(html, charset=charset)) == {"social_title": "Größe"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (page("", status=404), "answers with status 404"),
        (page("", media_type="image/png"), "is no page but image/png"),
        (page("", media_type=""), "is no page but of no type"),
    ],
)
def test_what_is_no_page(answer: Page, reason: str) -> None:
    """It is told why nothing can be read."""
    with pytest.raises(Unreadable, match=reason):
        preview_of(answer)


def test_hostile_pages_take_no_longer(tell: Callable[[str], None]) -> None:
    """What takes other parsers minutes is read within a time that is generous for a page of that size."""
    slowest = 0.0
    for piece in ("<a ", "</", "<div>", "<b>", "<!--", "<![CDATA[", "<p><b>", "<meta content='", "&"):
        began = time.process_time()
        preview_of(page(piece * (MOST_BYTES // len(piece))))
        slowest = max(slowest, time.process_time() - began)
    tell(f"slowest of the hostile pages: {1000 * slowest:.0f} ms")
    assert slowest < 5
