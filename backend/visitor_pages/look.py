"""Whose page a visitor sees, and in which language."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.domain.domains.settings import NO_SETTINGS, Brand, DomainSettings
from backend.visitor_pages.languages import texts_in

# Pages load nothing from elsewhere but the images of their brand, so nothing in a link's fields can load or
# run anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src {}; base-uri 'none'"
_NO_FORMS = "; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Look:
    """The language of a page, as `language_of` returned it, and the settings of its domain."""

    language: str
    settings: DomainSettings = NO_SETTINGS

    @property
    def brand(self) -> Brand:
        """The brand of the domain."""
        return self.settings.brand

    def texts(self) -> dict[str, tuple[str, str]]:
        """The service's texts, by name."""
        return texts_in(self.language)

    def title_and_text(self, name: str) -> tuple[str, str]:
        """The title and the text of a page: the organization's own ones, or else the service's."""
        own = self.settings.text(self.language, name)
        return (own.title, own.text) if own else self.texts()[name]


def content_policy(brand: Brand, *, has_form: bool, script: str | None = None) -> str:
    """The Content-Security-Policy of a page with this brand.

    With `has_form`, it says nothing of forms: Chromium holds `form-action` against the address that a sent
    form is redirected to as well, which may be any. It lets no script run but `script`, which is in the page.
    """
    images = (brand.logo_url, brand.favicon_url)
    sources = ["data:", *dict.fromkeys(_source(url) for url in images if url)]
    return _POLICY.format(" ".join(sources)) + ("" if has_form else _NO_FORMS) + _only(script)


def _only(script: str | None) -> str:
    """The part of a policy that lets this script run, by its hash."""
    if script is None:
        return ""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"; script-src 'sha256-{digest}'"


def _source(url: str) -> str:
    """The address as a source of a policy, which has no query, and in which ; and , have a meaning."""
    parts = urlsplit(url)
    path = parts.path.replace(";", "%3B").replace(",", "%2C")
    return f"{parts.scheme}://{parts.netloc}{path}"
