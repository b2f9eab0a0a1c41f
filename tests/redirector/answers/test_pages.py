"""The pages that visitors see: whole in themselves, accessible, and no place for anybody's scripts."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from backend.domain.domains.settings import NO_SETTINGS
from tests.redirector.sample_pages import BRAND, BRANDED, OWN_TEXT, SOCIAL, sample_pages

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
def test_no_page_runs_a_script_of_others(name: str) -> None:
    """No script element, no handler, no javascript address; and the policy would let none run. Pages that
    copy, or take a click by a form, have one script of ours, which the policy names by its hash."""
    page, has_script = elements(name), name.startswith(("before", "password", "a button"))
    assert [tag for tag, _ in page.found].count("script") == has_script
    for tag, attributes in page.found:
        assert tag not in {"iframe", "object", "embed", "base"}
        # Forms go to the short URL itself, or to where links are reported.
        assert tag != "form" or attributes.get("method") == "post"
        assert tag != "form" or attributes.get("action", "/report") == "/report"
        assert not [attribute for attribute in attributes if attribute.startswith("on")]
        assert not [value for value in attributes.values() if value.strip().lower().startswith("javascript:")]
    policy = dict(sample_pages()[name].headers)[b"content-security-policy"]
    assert b"default-src 'none'" in policy
    scripts = re.findall(rb"<script>(.*?)</script>", sample_pages()[name].body, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(script).digest()) for script in scripts]
    directives = [directive.strip() for directive in policy.split(b";") if b"script-src" in directive]
    assert directives == [b"script-src 'sha256-" + digest + b"'" for digest in hashes]


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
    viewport = next(of_tag["content"] for tag, of_tag in page.found if of_tag.get("name") == "viewport")
    assert viewport == "width=device-width, initial-scale=1"
    assert all(of_tag.get("aria-hidden") == "true" for tag, of_tag in page.found if tag == "svg")


@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_stored_or_indexed(name: str) -> None:
    """Every page says so in its headers, and in its head."""
    headers = dict(sample_pages()[name].headers)
    assert (headers[b"cache-control"], headers[b"x-robots-tag"]) == (b"no-store", b"noindex")
    robots = [attributes for _, attributes in elements(name).found if attributes.get("name") == "robots"]
    assert robots[0]["content"] == "noindex"


def test_a_preview_has_its_social_fields_as_they_are() -> None:
    """A fetcher reads title, description and image, whatever characters are in them."""
    metas = [attributes for tag, attributes in elements("preview").found if tag == "meta"]
    by_name = {meta.get("property") or meta.get("name", ""): meta.get("content") for meta in metas}
    for kind in ("og", "twitter"):
        assert by_name[f"{kind}:title"] == SOCIAL["social_title"]
        assert by_name[f"{kind}:description"] == SOCIAL["social_description"]
        assert by_name[f"{kind}:image"] == SOCIAL["social_image_url"]


@pytest.mark.parametrize("name", PAGES)
def test_a_brand_is_on_every_page(name: str) -> None:
    """Its logo, icon and colors; browsers ask nobody else, and do not tell the logo's host of the page."""
    answer = sample_pages(settings=BRANDED)[name]
    page = Elements(answer.body.decode())
    loaded = [attributes for tag, attributes in page.found if LOADS & attributes.keys() or tag == "link"]
    assert [attributes.get("src") or attributes["href"] for attributes in loaded] == [
        BRAND.favicon_url,
        BRAND.logo_url,
    ]
    assert {attributes["referrerpolicy"] for attributes in loaded} == {"no-referrer"}
    assert loaded[1]["alt"] == BRAND.name
    assert "--ground: #10233f; " in page.texts["style"]
    policy = dict(answer.headers)[b"content-security-policy"].decode()
    images = "img-src data: https://cdn.shop.example/logo%3B1.svg https://cdn.shop.example/icon.png;"
    assert f"; {images} base-uri" in policy


def test_own_texts_are_in_their_language_only() -> None:
    """On pages that may have them: what the operator decided is told in the operator's words."""
    for name, page in (("error", "h1"), ("password", "h1"), ("app", "h1"), ("in-app browser", "p")):
        shown = Elements(sample_pages(settings=BRANDED)[name].body.decode()).texts[page]
        assert (OWN_TEXT.title if page == "h1" else OWN_TEXT.text) in shown
        german = sample_pages("de", BRANDED)[name].body.decode()
        assert not [text for text in ("No &lt;i&gt;", "Please look into") if text in german]
    held = sample_pages(settings=BRANDED)["held"].body.decode()
    assert "This link was stopped" in held


@pytest.mark.parametrize("name", PAGES)
def test_no_page_names_the_service(name: str) -> None:
    """Nothing of the operator or of Waylink is on it, branded or not: no name, mark or address."""
    for settings in (NO_SETTINGS, BRANDED):
        body = sample_pages(settings=settings)[name].body.decode().lower()
        assert "waylink" not in body
        hosts = set(re.findall(r"https?://([^/\"?<]+)", body))
        of_links = {"go.shop.example", "shop.example", "cdn.shop.example", "evil.example"}
        assert hosts <= of_links | {"apps.apple.com"}
