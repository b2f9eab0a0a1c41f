"""Reads the title, description and image that a page gives for previews of links to it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urljoin

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.errors import InvalidField
from backend.domain.links.destinations.forwarding import as_followed
from backend.domain.links.input import OPTIONAL
from backend.domain.links.links import Link
from backend.web_client.page_reader import Page, PageReader, Unreadable

_HTML = frozenset({"text/html", "application/xhtml+xml"})
# The names of a page's `meta` elements for each social field, the best first. The page's title comes last.
_NAMES = {
    "social_title": ("og:title", "twitter:title"),
    "social_description": ("og:description", "twitter:description", "description"),
    "social_image_url": (
        "og:image",
        "og:image:url",
        "og:image:secure_url",
        "twitter:image",
        "twitter:image:src",
    ),
}
_LONGEST_VALUES = {"social_title": 300, "social_description": 1000}
# Control characters, which a social field must not contain, and runs of spaces.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SPACES = re.compile(r"\s+")


async def read_preview(reader: PageReader, link: Link) -> dict[str, str]:
    """The social fields from the page at the link's destination. Raises Unreadable."""
    page = await reader.read(as_followed(link).destination_url, link.org_id)
    return await LONG_WORK.run(link.org_id, partial(preview_of, page))


def lacking(link: Link, preview: Mapping[str, str]) -> dict[str, str]:
    """The fields of the preview that the link lacks. Reading takes seconds: pass the link as it is now."""
    return {name: value for name, value in preview.items() if name not in link.social}


def preview_of(page: Page) -> dict[str, str]:
    """The social fields that the page gives, valid and shortened for a link.

    Raises Unreadable unless the page is HTML with a status from 200 to 299.
    """
    if not 200 <= page.status < 300:
        raise Unreadable(f"answers with status {page.status}")
    if page.media_type not in _HTML:
        raise Unreadable(f"is no page but {page.media_type or 'of no type'}")
    head = _read_head(page)
    fields: dict[str, str] = {}
    for field, names in _NAMES.items():
        texts = [head.metadata[name] for name in names if name in head.metadata]
        if field == "social_title":
            texts.append(head.title)
        for text in texts:
            if value := _as_field(field, text, head.base):
                fields[field] = value
                break
    return fields


@dataclass(frozen=True, slots=True)
class _Head:
    """The page's title, the content of its `meta` elements by name, and its base address."""

    title: str
    metadata: Mapping[str, str]
    base: str


def _read_head(page: Page) -> _Head:
    # Only who reads pages needs it. It is linear in what strangers write, where the standard library's parser
    # takes minutes for 128 KB of "<a ", and the parsers of browsers for nested elements.
    from lxml import etree  # noqa: PLC0415

    try:
        parser = etree.HTMLParser(
            encoding=_encoding(page.charset), no_network=True, remove_comments=True, remove_pis=True
        )
    except LookupError:  # Python knows more encodings than the parser
        parser = etree.HTMLParser(no_network=True, remove_comments=True, remove_pis=True)
    try:
        parser.feed(page.content)
        root = parser.close()
    except (etree.LxmlError, ValueError):
        return _Head("", {}, page.url)
    if root is None:
        return _Head("", {}, page.url)
    metadata: dict[str, str] = {}
    for element in root.iter("meta"):
        name = (element.get("property") or element.get("name") or "").strip().lower()
        metadata.setdefault(name, element.get("content") or "")
    base: Any = root.find(".//base[@href]")
    title = root.findtext(".//title") or ""
    return _Head(title, metadata, page.url if base is None else _joined(page.url, base.get("href")))


def _encoding(charset: str | None) -> str | None:
    """The encoding that the server names; None lets the parser look into the page."""
    try:
        return codecs.lookup(charset).name if charset else None
    except (LookupError, ValueError):
        return None


def _as_field(field: str, text: str, base: str) -> str | None:
    value = _SPACES.sub(" ", _CONTROLS.sub("", text)).strip()
    if field in _LONGEST_VALUES and len(value) > _LONGEST_VALUES[field]:
        value = value[: _LONGEST_VALUES[field] - 1].rstrip() + "…"
    if field == "social_image_url" and value:
        value = _joined(base, value)
    try:
        return str(OPTIONAL[field].parse(field, value)) if value else None
    except InvalidField:
        return None


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return base
