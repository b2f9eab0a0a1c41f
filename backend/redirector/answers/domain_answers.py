"""What visitors get at places of a domain that are no links: its root, its files, and unknown paths."""

from __future__ import annotations

from collections.abc import Callable

from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.domain.links.destinations.web_address import encoded_address
from backend.domain.web.short_urls import host_of
from backend.redirector.answers import pages
from backend.redirector.answers.answer import Answer, file, redirect
from backend.redirector.links.domains import LinkDomains
from backend.redirector.request.visit import Visit

ROBOTS, FAVICON = "robots.txt", "favicon.ico"
# Paths that no link can have, and whose content the settings of the domain say.
FILES = frozenset({ROBOTS, FAVICON})
_TEN_MINUTES = 600


class DomainAnswers:
    """Answers by the settings of domains, without the database."""

    def __init__(self, domains: LinkDomains, blocked: Callable[[], AddressPatterns]) -> None:
        """`blocked` returns the operator's block list as it is now."""
        self._domains = domains
        self._blocked = blocked

    def root(self, visit: Visit) -> Answer:
        """The answer at the domain's root."""
        if visit.domain is None and not self._domains.are_read:
            return pages.unavailable(visit)
        return self._lead(visit, visit.settings.root_url) or pages.not_found(visit)

    def unknown(self, visit: Visit) -> Answer:
        """The answer at a path that no link has."""
        return self._lead(visit, visit.settings.not_found_url) or pages.not_found(visit)

    def file(self, visit: Visit) -> Answer:
        """The answer at one of the FILES."""
        settings = visit.settings
        if visit.path == ROBOTS and settings.robots_txt:
            return file(b"text/plain; charset=utf-8", settings.robots_txt.encode(), _TEN_MINUTES)
        if visit.path == FAVICON and settings.brand.favicon_url:
            return redirect(settings.brand.favicon_url.encode("ascii"))
        return pages.not_found(visit)

    def _lead(self, visit: Visit, url: str | None) -> Answer | None:
        """The redirect to this address. None without one, or if it has become one of a link domain.

        What is there may lead back. The address was checked when it was set; the domain may be younger.
        """
        if url is None or host_of(url) in self._domains.by_name:
            return None
        if self._blocked().find(url):
            return pages.held(visit)
        return redirect(encoded_address(url).encode("ascii"))
