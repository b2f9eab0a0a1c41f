"""GET and POST /tags, PATCH and DELETE /tags/{name}: the tags of an organization."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from quart import Response

from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import Rule
from backend.domain.links.tags import MOST_TAGS, Tag, TagColor
from backend.json_api import error_table
from backend.rest_api.links.representations import tag_json
from backend.rest_api.routes.blueprint import caller, rest
from backend.rest_api.routes.named_items import item_errors, read_item
from backend.rest_api.routes.query_string import read_query
from backend.storage.links.tags import change_tag, count_tagged_links, create_tag, delete_tag, list_tags
from backend.web.current import resources

FIELDS: dict[str, Rule[Any]] = {"name": ItemName(), "color": TagColor()}
CLEARABLE = frozenset({"color"})
_item_errors = partial(
    item_errors, unknown=error_table.TAG_NOT_FOUND, taken=error_table.TAG_TAKEN, most=MOST_TAGS
)


@rest.get("/tags")
async def get_tags() -> dict[str, Any]:
    """All tags by name, each with how many links have it."""
    read_query({})
    tags = await list_tags(resources().database, caller().org_id)
    return {"tags": await _shown(tags)}


@rest.post("/tags")
async def post_tag() -> tuple[dict[str, Any], int]:
    """Make a tag."""
    read_query({})
    given = await read_item(FIELDS, required=["name"], clearable=CLEARABLE)
    database, now = resources().database, resources().clock()
    with _item_errors():
        tag = await create_tag(database, caller().org_id, given["name"], given.get("color"), now)
    return tag_json(tag, 0), 201


@rest.patch("/tags/<path:name>")
async def patch_tag(name: str) -> dict[str, Any]:
    """Give a tag another name or colour, on all links at once. Null leaves the colour as it is."""
    read_query({})
    given = await read_item(FIELDS, clearable=CLEARABLE)
    new_name, color = given.get("name"), given.get("color")
    with _item_errors():
        tag = await change_tag(resources().database, caller().org_id, name, new_name=new_name, color=color)
    return (await _shown([tag]))[0]


@rest.delete("/tags/<path:name>")
async def remove_tag(name: str) -> Response:
    """Delete a tag, which takes it off all links at once."""
    read_query({})
    with _item_errors():
        await delete_tag(resources().database, caller().org_id, name)
    return Response(status=204)


async def _shown(tags: Sequence[Tag]) -> list[dict[str, Any]]:
    counts = await count_tagged_links(resources().database, caller().org_id)
    return [tag_json(each, counts.get(each.id, 0)) for each in tags]
