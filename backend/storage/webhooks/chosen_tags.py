"""The tags that endpoints choose, by their names: endpoints hold ids, so that a tag may be renamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.fields.item_names import name_key
from backend.domain.ids import OrgId, TagId
from backend.domain.webhooks.endpoint import Endpoint
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import find_known_tags, list_tags


async def with_tag_ids(database: Database, org_id: OrgId, given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of an endpoint with the ids of the organization's tags in the place of the names in `tags`.

    Raises InvalidField for a name that no tag has.
    """
    fields = dict(given)
    names = fields.pop("tags", None)
    if names is None:
        return fields
    known = await find_known_tags(database, None, org_id, names)
    for name in names:
        if name_key(name) not in known:
            raise InvalidField("tags", f"has a tag that was not found: {name}")
    return fields | {"tag_ids": tuple(known[name_key(name)] for name in names)}


async def tag_names(database: Database, org_id: OrgId, endpoints: Iterable[Endpoint]) -> Mapping[TagId, str]:
    """The names of the tags that these endpoints of the organization choose, without deleted ones."""
    wanted = {tag_id for each in endpoints for tag_id in each.tag_ids}
    if not wanted:
        return {}
    return {tag.id: tag.name for tag in await list_tags(database, org_id) if tag.id in wanted}
