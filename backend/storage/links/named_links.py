"""The links that a filter of analytics names, as people know them."""

from __future__ import annotations

from backend.domain.analytics.answer import NamedLink
from backend.domain.analytics.query import Filter, Not, Prefix
from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_links


async def links_in_filter(
    database: Database, org_id: OrgId, chosen: Filter | None
) -> dict[LinkId, NamedLink]:
    """Those of the organization, by id; a link that was deleted for good is not among them."""
    if chosen is None or isinstance(chosen, Prefix):
        return {}
    ids = chosen.values if isinstance(chosen, Not) else chosen
    found = await find_links(database, [LinkId(link_id) for link_id in ids if link_id], org_id)
    return {link.id: NamedLink(link.domain, link.path, link.link_name) for link in found.values()}
