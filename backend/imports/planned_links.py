"""The links that a dry run would make: checked as if they were stored, with few questions to the database."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from backend.domain.errors import RequestError
from backend.domain.ids import LinkId, OrgId
from backend.domain.link_input import NewLink
from backend.domain.links import CreatedBy, Link
from backend.imports.row import ImportRow
from backend.storage.domains import is_domain
from backend.storage.links import PathTaken, resolve_link, taken_paths
from backend.storage.loops import Place
from backend.storage.mongo import Database
from backend.storage.new_links import DomainNotConfigured, refuse_loop


class PlannedLinks:
    """Links of a file in their order. Later ones may lead to them, or want the same paths.

    `domains` are the organization's.
    """

    def __init__(self, database: Database, org_id: OrgId, domains: Collection[str], now: datetime) -> None:
        self._database = database
        self._org_id = org_id
        self._domains = domains
        self._now = now
        self._planned: dict[Place, Link] = {}
        self._taken: set[Place] = set()
        self._served: dict[str, bool] = {}

    async def look_ahead(self, rows: Sequence[ImportRow]) -> None:
        """Ask, in one question a domain, which paths of the rows that come next are in use."""
        wanted: dict[str, list[str]] = {}
        for row in rows:
            try:
                new = row.parse().new
            except RequestError:
                continue
            if new.selected_path and new.domain in self._domains:
                wanted.setdefault(new.domain, []).append(new.selected_path)
        self._taken = {
            (domain, path)
            for domain, paths in wanted.items()
            for path in await taken_paths(self._database, domain, paths)
        }

    async def add(self, new: NewLink) -> None:
        """Plan a link of the rows that were looked up.

        Raises DomainNotConfigured, InvalidField and PathTaken, as storing it would.
        """
        if new.domain not in self._domains:
            raise DomainNotConfigured(new.domain)
        if not new.selected_path:
            return
        link = new.to_link(
            new.selected_path,
            link_id=LinkId(""),
            org_id=self._org_id,
            created_by=CreatedBy.REST,
            now=self._now,
        )
        await refuse_loop(self._database, link, self._resolve)
        place = (new.domain, new.selected_path)
        if place in self._planned or place in self._taken:
            raise PathTaken(new.selected_path)
        self._planned[place] = link

    async def _resolve(self, place: Place) -> Link | None:
        if place in self._planned:
            return self._planned[place]
        domain, path = place
        if domain not in self._served:
            self._served[domain] = await is_domain(self._database, domain)
        return await resolve_link(self._database, domain, path) if self._served[domain] else None
