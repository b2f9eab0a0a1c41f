"""Checks the links of a dry run as if they were stored, with few queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from datetime import datetime

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.policy import DestinationPolicy, refuse_destinations
from backend.domain.links.input import NewLink
from backend.domain.links.links import LEADING_FIELDS, CreatedBy, Link
from backend.domain.links.operations import DomainNotConfigured, PathTaken
from backend.domain.web.short_urls import host_of
from backend.storage.accounts.domains import is_domain
from backend.storage.driver.mongo import Database
from backend.storage.links.links import resolve_links, taken_paths
from backend.storage.links.writing.loops import DomainPath, alike_among, refuse_loop, refuse_varying


class PlannedLinks:
    """The links of a file so far. Later links may lead to them, or ask for the same paths.

    `domains` and `policy` are the organization's.
    """

    def __init__(
        self,
        database: Database,
        org_id: OrgId,
        domains: Collection[str],
        policy: DestinationPolicy,
        now: datetime,
    ) -> None:
        self._database = database
        self._org_id = org_id
        self._domains = domains
        self._policy = policy
        self._now = now
        self._planned: dict[DomainPath, Link] = {}
        self._taken: set[DomainPath] = set()
        self._served: dict[str, bool] = {}

    async def look_ahead(self, links: Iterable[NewLink]) -> None:
        """Look up with one query for each domain which paths of the next links are in use."""
        paths_by_domain: dict[str, list[str]] = {}
        for new in links:
            if new.selected_path and new.domain in self._domains:
                paths_by_domain.setdefault(new.domain, []).append(new.selected_path)
        self._taken = {
            (domain, path)
            for domain, paths in paths_by_domain.items()
            for path in await taken_paths(self._database, domain, paths)
        }

    async def add(self, new: NewLink) -> None:
        """Plan a link that was looked up.

        Raises DomainNotConfigured, InvalidField and PathTaken, as storing it would.
        """
        if new.domain not in self._domains:
            raise DomainNotConfigured(new.domain)
        link = new.to_link(
            new.selected_path or "",
            link_id=LinkId(""),
            org_id=self._org_id,
            created_by=CreatedBy.PERSON,
            now=self._now,
        )
        refuse_destinations(link, None, self._policy)
        leads_to_links = await self._leads_to_links(new)
        if leads_to_links:
            refuse_varying(link, [domain for domain, is_served in self._served.items() if is_served])
        if not new.selected_path:
            return
        if leads_to_links:
            await refuse_loop(self._database, link, self._resolve, self._alike)
        place = (new.domain, new.selected_path)
        if place in self._planned or place in self._taken:
            raise PathTaken(new.selected_path)
        self._planned[place] = link

    async def _leads_to_links(self, new: NewLink) -> bool:
        """Whether an address of the link is on a link domain of anyone: most are not, and can't loop."""
        hosts = [host_of(new.fields.get(name) or "") for name in LEADING_FIELDS]
        return any([host and await self._is_served(host) for host in hosts])

    async def _is_served(self, domain: str) -> bool:
        if domain not in self._served:
            self._served[domain] = await is_domain(self._database, domain)
        return self._served[domain]

    def _alike(self, places: Set[DomainPath]) -> Iterable[Link]:
        return alike_among(self._planned, places)

    async def _resolve(self, places: Set[DomainPath]) -> Mapping[DomainPath, Link]:
        planned = {place: self._planned[place] for place in places & self._planned.keys()}
        others = [place for place in places - planned.keys() if await self._is_served(place[0])]
        return await resolve_links(self._database, others) | planned
