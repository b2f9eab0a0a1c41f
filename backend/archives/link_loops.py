"""Finds loops of links in an archive, which lead through short URLs in a circle."""

from __future__ import annotations

from collections.abc import Mapping, Set

from backend.archives.archive_file import Entry
from backend.domain.links.links import Link
from backend.domain.web.short_urls import parse_short_url
from backend.storage.accounts.domains import is_domain
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.storage.links.writing.loops import DomainPath, looping_field, varying_field


class LinkLoops:
    """Collects those links of an archive that lead to a link domain.

    Only these, usually few, are kept in memory.
    """

    def __init__(self, database: Database, domains: set[str]) -> None:
        """`domains` are the archive's own domains. The database has no links on them yet."""
        self._database = database
        self._domains = domains
        self._is_domain: dict[str, bool] = dict.fromkeys(domains, True)
        self._leading_links: dict[DomainPath, Link] = {}

    async def add(self, entry: Entry) -> None:
        """Note this entry if it is a link that leads to another link."""
        if entry.collection != links.NAME:
            return
        link = links.from_document(entry.document)
        places = [parse_short_url(url) for url in link.destinations.values()]
        if any([place and await self._has_links(place[0]) for place in places]):
            self._leading_links[link.domain, link.path] = link

    async def find_loops(self) -> list[tuple[str, str]]:
        """The id of each link that leads back to itself, or could, with the name of the field that does."""
        domains = {host for host, is_domain in self._is_domain.items() if is_domain}
        return [
            (link.id, field)
            for link in self._leading_links.values()
            if (field := varying_field(link, domains))
            or (field := await looping_field(self._database, link, self._resolve))
        ]

    async def _has_links(self, host: str) -> bool:
        if host not in self._is_domain:
            self._is_domain[host] = await is_domain(self._database, host)
        return self._is_domain[host]

    async def _resolve(self, places: Set[DomainPath]) -> Mapping[DomainPath, Link]:
        others = {place for place in places if place[0] not in self._domains}
        found = await links.resolve_links(self._database, others)
        return found | {place: self._leading_links[place] for place in places & self._leading_links.keys()}
