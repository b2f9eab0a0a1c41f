"""In-app browsers, and how a link leaves them for a browser: data that can be updated without a release.

Nobody publishes these ways; people found them, and apps take them away again. So each has its source and the
day on which it was last reported to work.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlsplit

from backend.domain.taps.components import UnreadableFile, list_of, object_of
from backend.domain.web.client import Platform

_PLACEHOLDERS = ("{url}", "{encoded_url}", "{rest}")
_BEGINNING = re.compile(r"\{url\}|[a-z][a-z0-9+.-]*(://|-\{url\})")
_REFUSED = ("javascript", "data", "vbscript", "file")
_PACKAGED = "static/in_app_browsers.json"


@dataclass(frozen=True, slots=True)
class Escape:
    """An address on which a tap leaves the in-app browser, with a placeholder for the short URL."""

    template: str
    reported: str  # the day on which it was last reported to work
    source: str

    @property
    def takes_intents(self) -> bool:
        """Whether the in-app browser that is left this way follows intent:// addresses."""
        return self.template.startswith("intent:")

    def address(self, short_url: str) -> str:
        """The address for this short URL."""
        parts = {
            "{url}": short_url,
            "{encoded_url}": quote(short_url, safe=""),
            "{rest}": short_url.partition("://")[2],
            "{joint}": "&" if urlsplit(short_url).query else "?",
        }
        return re.sub(r"\{\w+\}", lambda found: parts.get(found[0], found[0]), self.template)


@dataclass(frozen=True, slots=True)
class InAppBrowser:
    """An app with a browser of its own, by a part of its User-Agent, and its known escapes."""

    name: str
    user_agent: str
    escapes: Mapping[Platform, Escape]


@dataclass(frozen=True, slots=True)
class InAppBrowsers:
    """What is known of them, as of a day. The last one stands for all apps that no other names."""

    updated: str
    browsers: tuple[InAppBrowser, ...]

    def on(self, platform: Platform) -> list[InAppBrowser]:
        """One for each name: the one with an escape on this system, where there are several."""
        found: dict[str, InAppBrowser] = {}
        for browser in self.browsers:
            if browser.name not in found or platform in browser.escapes:
                found[browser.name] = browser
        return [*found.values()]

    def of(self, user_agent: str) -> InAppBrowser | None:
        """The first one whose part is in this User-Agent."""
        return next((browser for browser in self.browsers if browser.user_agent in user_agent), None)

    def escape(self, user_agent: str, platform: Platform) -> Escape | None:
        """How a link leaves the one with this User-Agent on this system; None where no way is known."""
        browser = self.of(user_agent)
        return browser.escapes.get(platform) if browser else None


def read_in_app_browsers(text: str) -> InAppBrowsers:
    """What the text of a file says. Raises UnreadableFile."""
    try:
        return parse_in_app_browsers(json.loads(text))
    except (json.JSONDecodeError, RecursionError):
        raise UnreadableFile("it is not JSON") from None


@lru_cache(maxsize=1)
def packaged_in_app_browsers() -> InAppBrowsers:
    """What comes with the service."""
    return read_in_app_browsers(files("backend.domain.taps").joinpath(_PACKAGED).read_text(encoding="utf-8"))


def parse_in_app_browsers(content: Any) -> InAppBrowsers:
    """Read the file's JSON. Raises UnreadableFile."""
    file = object_of(content, "the file")
    browsers = [object_of(browser, "browsers") for browser in list_of(file.get("browsers"), "browsers")]
    return InAppBrowsers(_text(file, "updated"), tuple(map(_browser, browsers)))


def _browser(content: Mapping[str, Any]) -> InAppBrowser:
    escapes = {
        platform: _escape(object_of(content[platform.value], platform.value))
        for platform in (Platform.IOS, Platform.ANDROID)
        if content.get(platform.value) is not None
    }
    return InAppBrowser(_text(content, "name"), _text(content, "user_agent"), escapes)


def _escape(content: Mapping[str, Any]) -> Escape:
    template = _text(content, "escape")
    if not _BEGINNING.match(template) or template.startswith(_REFUSED):
        raise UnreadableFile(f"`escape` {template!r} must begin with {{url}} or with the scheme of an app")
    if not any(placeholder in template for placeholder in _PLACEHOLDERS):
        raise UnreadableFile(f"`escape` {template!r} must contain one of {', '.join(_PLACEHOLDERS)}")
    return Escape(template, _text(content, "reported"), _text(content, "source"))


def _text(content: Mapping[str, Any], name: str) -> str:
    text = content.get(name)
    if not isinstance(text, str):
        raise UnreadableFile(f"`{name}` must be a text")
    return text
