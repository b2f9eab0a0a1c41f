"""The pages that visitors see: whole in themselves, accessible, and no place for anybody's scripts."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.redirector.sample_pages import SOCIAL, sample_pages

PAGES = list(sample_pages())
LOADS = {"src", "srcset", "data", "poster", "background", "formaction", "ping"}


class Elements(HTMLParser):
    """The elements of a page as a browser reads them, and its title."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, str] = {}
        self._tag = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep each element, with its attributes."""
        self._tag = tag
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        """Keep the text, by its element."""
        self.texts[self._tag] = self.texts.get(self._tag, "") + data


def elements(name: str, language: str = "en") -> Elements:
    """The elements of a sample page."""
    return Elements(sample_pages(language)[name].body.decode())


@pytest.mark.parametrize("name", PAGES)
def test_no_page_runs_a_script(name: str) -> None:
    """No script element, no handler, no javascript address; and the policy would let none run."""
    for tag, attributes in elements(name).found:
        assert tag not in {"script", "iframe", "object", "embed", "base"}
        # Forms go to the short URL itself, or to where links are reported.
        assert tag != "form" or attributes.get("method") == "post"
        assert tag != "form" or attributes.get("action", "/report") == "/report"
        assert not [each for each in attributes if each.startswith("on")]
        assert not [value for value in attributes.values() if value.strip().lower().startswith("javascript:")]
    policy = dict(sample_pages()[name].headers)[b"content-security-policy"]
    assert b"default-src 'none'" in policy
    assert b"script-src" not in policy


@pytest.mark.parametrize("name", PAGES)
def test_no_page_loads_anything(name: str) -> None:
    """Nothing comes from another address: no image, style, font or icon but what is in the page."""
    page = elements(name)
    for tag, attributes in page.found:
        assert not LOADS & attributes.keys()
        assert tag != "link" or attributes["href"].startswith("data:")
        assert "http-equiv" not in attributes
    assert not re.search(r"url\(|@import", page.texts["style"])


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible(name: str, language: str) -> None:
    """It says its language and title, has one main landmark with one heading, and can be zoomed."""
    page = elements(name, language)
    tags = [tag for tag, _ in page.found]
    attributes = dict(page.found)
    assert attributes["html"]["lang"] == ("en" if name.startswith("preview") else language)
    assert page.texts["title"].strip()
    assert (tags.count("main"), tags.count("h1")) == (1, 1)
    assert tags.index("main") < tags.index("h1")
    viewport = next(each["content"] for tag, each in page.found if each.get("name") == "viewport")
    assert viewport == "width=device-width, initial-scale=1"
    assert all(each.get("aria-hidden") == "true" for tag, each in page.found if tag == "svg")


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_stored_or_indexed(name: str) -> None:
    """Every page says so in its headers, and in its head."""
    headers = dict(sample_pages()[name].headers)
    assert (headers[b"cache-control"], headers[b"x-robots-tag"]) == (b"no-store", b"noindex")
    robots = [each for _, each in elements(name).found if each.get("name") == "robots"]
    assert robots[0]["content"] == "noindex"


def test_a_preview_has_its_social_fields_as_they_are() -> None:
    """A fetcher reads title, description and image, whatever characters are in them."""
    metas = [each for tag, each in elements("preview").found if tag == "meta"]
    by_name = {each.get("property") or each.get("name", ""): each.get("content") for each in metas}
    for kind in ("og", "twitter"):
        assert by_name[f"{kind}:title"] == SOCIAL["social_title"]
        assert by_name[f"{kind}:description"] == SOCIAL["social_description"]
        assert by_name[f"{kind}:image"] == SOCIAL["social_image_url"]
