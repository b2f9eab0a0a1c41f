"""What an organization sets for one of its link domains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from backend.domain.domains.colors import DEFAULT_STYLE, PageStyle, page_style
from backend.domain.ids import OrgId


class PageLanguage(StrEnum):
    """The languages of the pages that visitors see."""

    ENGLISH = "en"
    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"


class OwnText(StrEnum):
    """The pages whose title and text an organization may write itself.

    Others say what the operator decided, or belong to a form, so that their texts are the same everywhere.
    """

    NOT_FOUND = "not_found"
    UNAVAILABLE = "unavailable"
    PASSWORD = "password"  # noqa: S105 - the name of a page
    OPENS_APP = "opens_app"
    IN_APP = "in_app"


@dataclass(frozen=True, slots=True)
class PageText:
    """The title of a page, and the sentences below it."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Brand:
    """Whose pages visitors see. `logo_url` and `favicon_url` are https addresses, colours are `#rrggbb`."""

    name: str | None = None
    logo_url: str | None = None
    favicon_url: str | None = None
    color: str | None = None
    background: str | None = None

    @property
    def style(self) -> PageStyle:
        """The colours of the pages, each readable on its ground."""
        if self.color is None and self.background is None:
            return DEFAULT_STYLE
        return page_style(self.color, self.background)


NO_BRAND = Brand()
# The texts of pages, by language and page.
Texts = Mapping[PageLanguage, Mapping[OwnText, PageText]]


@dataclass(frozen=True, slots=True)
class DomainSettings:
    """Where a domain's root and its unknown paths lead, and how its pages look.

    Without `root_url` and `not_found_url`, visitors get the error page there. Without `robots_txt`, the
    domain has no such file. With `forwards_path`, new links pass on what follows their path, unless they say
    otherwise. With `ignores_case`, a path in other case leads to the only link that it can mean.
    """

    root_url: str | None = None
    not_found_url: str | None = None
    brand: Brand = NO_BRAND
    texts: Texts = field(default_factory=dict)
    robots_txt: str | None = None
    forwards_path: bool = False
    ignores_case: bool = True

    def text(self, language: str, page: str) -> PageText | None:
        """The organization's own text of this page in this language; None if it has none."""
        if not self.texts:
            return None
        return self.texts.get(PageLanguage(language), {}).get(OwnText(page)) if page in _OWN_TEXTS else None


NO_SETTINGS = DomainSettings()
_OWN_TEXTS = frozenset(page.value for page in OwnText)


@dataclass(frozen=True, slots=True)
class LinkDomain:
    """A link domain, as answers to its visitors need it."""

    org_id: OrgId
    settings: DomainSettings = NO_SETTINGS
