"""Finds the tags that webhook endpoints choose. Endpoints hold ids of tags, so that tags can be renamed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.fields.item_names import name_key
from backend.domain.ids import OrgId, TagId
from backend.domain.webhooks.endpoint import Endpoint
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import find_tag_ids, list_tags


async def with_tag_ids(database: Database, org_id: OrgId, values: Mapping[str, Any]) -> dict[str, Any]:
    """These fields of an endpoint, with the ids of tags in `tag_ids` in the place of their names in `tags`.

    Raises InvalidField for a name that no tag has.
    """
    fields = dict(values)
    names = fields.pop("tags", None)
    if names is None:
        return fields
    tag_ids = await find_tag_ids(database, None, org_id, names)
    for name in names:
        if name_key(name) not in tag_ids:
            raise InvalidField("tags", f"has a tag that was not found: {name}")
    return fields | {"tag_ids": tuple(tag_ids[name_key(name)] for name in names)}


async def tag_names(database: Database, org_id: OrgId, endpoints: Iterable[Endpoint]) -> Mapping[TagId, str]:
    """The names of the tags that these endpoints of the organization choose, without deleted ones."""
    chosen_ids = {tag_id for endpoint in endpoints for tag_id in endpoint.tag_ids}
    if not chosen_ids:
        return {}
    return {tag.id: tag.name for tag in await list_tags(database, org_id) if tag.id in chosen_ids}
