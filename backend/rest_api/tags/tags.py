"""GET and POST /tags, PATCH and DELETE /tags/{name}: the tags of an organization."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.fields.item_names import ItemName
from backend.domain.links.tags import Tag, TagColor
from backend.json_api import error_table
from backend.rest_api.links.representations import TagJson, tag_json
from backend.rest_api.routes.blueprint import caller, reach
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.tags.named_items import name_in_path, name_is_free
from backend.storage.links.tags import change_tag, count_tagged_links, create_tag, delete_tag, list_tags
from backend.web.current import resources

_NAME = name_in_path(error_table.TAG_NOT_FOUND)
_CHANGES = BodyFields({"name": ItemName(), "color": TagColor()}, clearable=frozenset({"color"}))
_NEW = replace(_CHANGES, required=("name",))


@Operation(
    method="GET",
    path="/tags",
    summary="List the tags, each with its links",
    needs=(Permission.LINKS_READ,),
    holds_reach=True,
    answer="TagList",
)
async def get_tags() -> dict[str, Any]:
    """All tags by name, each with how many links have it.

    A key that is limited to tags sees these, another limited one those of the links that it reaches.
    """
    tags = await list_tags(resources().database, caller().org_id)
    if within := reach():
        counts = await count_tagged_links(resources().database, caller().org_id, within)
        known = counts if within.tags is None else within.tags
        return {"tags": [tag_json(tag, counts.get(tag.id, 0)) for tag in tags if tag.id in known]}
    return {"tags": await _shown(tags)}


@Operation(
    method="POST",
    path="/tags",
    summary="Make a tag",
    needs=(Permission.LINKS_WRITE,),
    body=_NEW,
    status=201,
    answer="Tag",
    errors=(error_table.TAG_TAKEN,),
)
async def post_tag(fields: dict[str, Any]) -> tuple[TagJson, int]:
    """Make a tag."""
    database, now = resources().database, resources().clock()
    with name_is_free(error_table.TAG_TAKEN):
        tag = await create_tag(database, caller().org_id, fields["name"], fields.get("color"), now)
    return tag_json(tag, 0), 201


@Operation(
    method="PATCH",
    path="/tags/<path:name>",
    summary="Rename or colour a tag, on all links at once",
    needs=(Permission.LINKS_WRITE,),
    path_parameter=_NAME,
    body=_CHANGES,
    answer="Tag",
    errors=(error_table.TAG_TAKEN,),
)
async def patch_tag(name: str, fields: dict[str, Any]) -> TagJson:
    """Give a tag another name or colour, on all links at once. Null leaves the colour as it is."""
    new_name, color = fields.get("name"), fields.get("color")
    with name_is_free(error_table.TAG_TAKEN):
        tag = await change_tag(resources().database, caller().org_id, name, new_name=new_name, color=color)
    return (await _shown([tag]))[0]


@Operation(
    method="DELETE",
    path="/tags/<path:name>",
    summary="Delete a tag, which takes it off all links at once",
    needs=(Permission.LINKS_WRITE,),
    path_parameter=_NAME,
    status=204,
)
async def remove_tag(name: str) -> None:
    """Delete a tag, which takes it off all links at once."""
    await delete_tag(resources().database, caller().org_id, name)


async def _shown(tags: Sequence[Tag]) -> list[TagJson]:
    counts = await count_tagged_links(resources().database, caller().org_id)
    return [tag_json(tag, counts.get(tag.id, 0)) for tag in tags]
