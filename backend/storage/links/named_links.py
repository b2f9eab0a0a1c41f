"""The links that filters of analytics name, as people know them."""

from __future__ import annotations

from collections.abc import Iterable

from backend.domain.analytics.answer import NamedLink
from backend.domain.analytics.query import Field, FieldFilters, Not
from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_links


async def links_in_filters(
    database: Database, org_id: OrgId, filters: Iterable[FieldFilters]
) -> dict[LinkId, NamedLink]:
    """Those of the organization, by id; a link that was deleted for good is not among them."""
    ids: set[LinkId] = set()
    for chosen in (dict(each).get(Field.LINK) for each in filters):
        values = chosen.values if isinstance(chosen, Not) else chosen
        if isinstance(values, frozenset):
            ids |= {LinkId(value) for value in values if value}
    found = await find_links(database, ids, org_id)
    return {link.id: NamedLink(link.domain, link.path, link.link_name) for link in found.values()}
