"""Reads the working set of operations on links: the links, domains, tags and templates that they need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.input import Changes, NewLink
from backend.domain.links.links import LEADING_FIELDS, Link
from backend.domain.links.operations import (
    ArchiveLink,
    ChangeLink,
    CreateLink,
    LinkRequest,
    UpsertLink,
    fields_of,
)
from backend.domain.links.rules.rule_json import rule_targets
from backend.domain.web.short_urls import host_of
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.accounts.domains import DomainOwner
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.links import links
from backend.storage.links.taken_clicks import count_taken
from backend.storage.links.writing.loops import DomainPath
from backend.storage.links.writing.tags_and_templates import TagsAndTemplates, read_tags_and_templates


@dataclass(slots=True)
class WorkingSet:
    """The links that operations read or change, as each operation leaves them, and the domains' owners."""

    owners: dict[str, DomainOwner] = field(default_factory=dict)
    links: dict[LinkId, Link] = field(default_factory=dict)
    places: dict[DomainPath, LinkId] = field(default_factory=dict)
    # An external id that an operation takes from a link stays taken: MongoDB could refuse either order of
    # the two writes.
    external_ids: dict[tuple[OrgId, str], LinkId] = field(default_factory=dict)
    # Clicks that were taken of links, where an operation is about their limit.
    taken: dict[LinkId, int] = field(default_factory=dict)
    tags_and_templates: TagsAndTemplates = field(default_factory=TagsAndTemplates)

    def add(self, link: Link) -> None:
        """Add this link, or put it in the place of its earlier state."""
        self.links[link.id] = link
        self.places[link.domain, link.path] = link.id
        if link.external_id is not None:
            self.external_ids[link.org_id, link.external_id] = link.id

    def find(self, link_id: LinkId, org_id: OrgId) -> Link | None:
        """The organization's link with this id."""
        link = self.links.get(link_id)
        return link if link and link.org_id == org_id else None

    def find_external(self, org_id: OrgId, external_id: object) -> Link | None:
        """The organization's link that has, or had a moment ago, this external id."""
        link_id = self.external_ids.get((org_id, str(external_id)))
        return self.links[link_id] if link_id else None


async def read_working_set(
    database: Database,
    session: ClientSession,
    requests: Sequence[LinkRequest],
    owners: DomainOwners,
    *,
    generated_paths: Sequence[str],
) -> WorkingSet:
    """Read the working set of these operations, with one query for each kind of look-up that occurs.

    The links of `generated_paths` are read too, where a new link may get one of them.
    """
    working_set = WorkingSet()
    for query in _queries(requests, generated_paths):
        for link in await links.find_all(database, session, query):
            working_set.add(link)
    if any("max_clicks" in fields_of(request.operation) for request in requests):
        working_set.taken = await count_taken(database, working_set.links, session)
    hosts = {*_hosts(requests), *(host for link in working_set.links.values() for host in target_hosts(link))}
    working_set.owners = await owners.find(hosts)
    requested_fields = [(request.org_id, fields_of(request.operation)) for request in requests]
    working_set.tags_and_templates = await read_tags_and_templates(
        database, session, requested_fields, working_set.links.values()
    )
    return working_set


def _queries(requests: Sequence[LinkRequest], generated_paths: Sequence[str]) -> Iterator[Document]:
    ids: set[LinkId] = set()
    paths: defaultdict[str, set[str]] = defaultdict(set)
    external_ids: defaultdict[OrgId, set[str]] = defaultdict(set)
    generated: set[str] = set()
    for request in requests:
        new: NewLink | None = None
        match request.operation:
            case CreateLink(new, link_id):
                ids.update(used_id for used_id in (link_id, request.operation.copy_of) if used_id)
                fields = new.fields
            case UpsertLink(new):
                fields = new.fields
            case ChangeLink(link_id, changes):
                ids.add(link_id)
                fields = changes
            case ArchiveLink(link_id):
                ids.add(link_id)
                continue
        if new and new.selected_path:
            paths[new.domain].add(new.selected_path)
        elif new and generated_paths:
            generated.add(new.domain)
        if fields.get("external_id") is not None:
            external_ids[request.org_id].add(fields["external_id"])
    if ids:
        yield {"_id": {"$in": list(ids)}}
    for domain in generated:
        paths[domain].update(generated_paths)
    for domain, domain_paths in paths.items():
        yield {"domain": domain, "path": {"$in": list(domain_paths)}}
    for org_id, own_external_ids in external_ids.items():
        yield {"org_id": org_id, "external_id": {"$in": list(own_external_ids)}}


def _hosts(requests: Sequence[LinkRequest]) -> set[str]:
    """The hosts of new links, and all hosts to which the operations lead."""
    hosts: set[str] = set()
    for request in requests:
        hosts.update(_hosts_in(fields_of(request.operation)))
        match request.operation:
            case CreateLink(new) | UpsertLink(new):
                hosts.add(new.domain)
    return hosts


def _hosts_in(fields: Changes) -> set[str]:
    urls = [url for name in LEADING_FIELDS if (url := fields.get(name))]
    if rules := fields.get("rules"):
        urls += rule_targets(rules).values()
    return _hosts_of(urls)


def target_hosts(link: Link) -> set[str]:
    """The hosts to which the link leads."""
    return _hosts_of(link.destinations.values())


def _hosts_of(urls: Iterable[str]) -> set[str]:
    return {host for url in urls if (host := host_of(url))}
