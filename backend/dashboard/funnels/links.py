"""The links in filters of funnels: people name them by their short URLs, and funnels by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from backend.dashboard.frame.blueprint import org_id
from backend.domain.analytics.funnels.funnel import FunnelStep
from backend.domain.fields.rules import is_uuid
from backend.domain.ids import LinkId, OrgId
from backend.domain.web.short_urls import parse_short_url
from backend.storage.links.links import find_link_at, find_links
from backend.storage.links.named_links import links_in_filters
from backend.web.current import resources


async def ids_of_short_urls(texts: Iterable[str]) -> Mapping[str, LinkId]:
    """The ids of the organization's links at these short URLs, by URL. Other texts are left out."""
    ids: dict[str, LinkId] = {}
    for text in texts:
        place = None if is_uuid(text) else parse_short_url(text if "://" in text else f"https://{text}")
        link = await find_link_at(resources().database, *place, org_id()) if place else None
        if link:
            ids[text] = link.id
    return ids


async def short_urls_of(ids: Iterable[str]) -> Mapping[str, str]:
    """The short URLs of the organization's links with these ids, by id. Other texts are left out."""
    found = await find_links(resources().database, [LinkId(link_id) for link_id in ids], org_id())
    write = resources().short_url_form.write
    return {link.id: write(link.domain, link.path) for link in found.values()}


async def link_names(of: OrgId, steps: Iterable[FunnelStep]) -> Mapping[str, str]:
    """The names of the organization's links that filters of these steps have, by id."""
    found = await links_in_filters(resources().database, of, [step.filters for step in steps])
    return {link_id: link.link_name for link_id, link in found.items()}
