"""GET and POST /tags, PATCH and DELETE /tags/{name}: the tags of an organization."""

from __future__ import annotations

import json
from typing import Any

from quart import Response

from backend.current import resources
from backend.domain.errors import InvalidField, MissingField, shown_name
from backend.domain.field_rules import Rule
from backend.domain.tags import MOST_TAGS, Tag, TagColor, TagName, TagTaken, TagUnknown, TooManyTags
from backend.json_api import error_table
from backend.json_api.json_body import read_json_object
from backend.json_api.refusal import Refusal
from backend.rest_api.blueprint import caller, rest
from backend.rest_api.query_string import read_query
from backend.rest_api.representations import tag_json
from backend.storage.tags import change_tag, count_tagged_links, create_tag, delete_tag, list_tags

FIELDS: dict[str, Rule[Any]] = {"name": TagName(), "color": TagColor()}


@rest.get("/tags")
async def get_tags() -> dict[str, Any]:
    """All tags by name, each with how many links have it."""
    read_query({})
    tags = await list_tags(resources().database, caller().org_id)
    return {"tags": await _shown(tags)}


@rest.post("/tags")
async def post_tag() -> Response:
    """Make a tag."""
    read_query({})
    given = _parse(await read_json_object())
    if "name" not in given:
        raise MissingField("name")
    database, now = resources().database, resources().clock()
    try:
        tag = await create_tag(database, caller().org_id, given["name"], given.get("color"), now)
    except TagTaken:
        raise Refusal(error_table.TAG_TAKEN) from None
    except TooManyTags:
        raise InvalidField("name", f"would be one more than the {MOST_TAGS:,} tags possible") from None
    text = json.dumps(tag_json(tag, 0))
    return Response(text, status=201, content_type="application/json")


@rest.patch("/tags/<path:name>")
async def patch_tag(name: str) -> dict[str, Any]:
    """Give a tag another name or colour, on all links at once."""
    read_query({})
    given = _parse(await read_json_object())
    try:
        tag = await change_tag(
            resources().database,
            caller().org_id,
            name,
            new_name=given.get("name"),
            color=given.get("color"),
        )
    except TagUnknown:
        raise Refusal(error_table.TAG_NOT_FOUND) from None
    except TagTaken:
        raise Refusal(error_table.TAG_TAKEN) from None
    return (await _shown([tag]))[0]


@rest.delete("/tags/<path:name>")
async def remove_tag(name: str) -> Response:
    """Delete a tag, which takes it off all links at once."""
    read_query({})
    try:
        await delete_tag(resources().database, caller().org_id, name)
    except TagUnknown:
        raise Refusal(error_table.TAG_NOT_FOUND) from None
    return Response(status=204)


async def _shown(tags: list[Tag]) -> list[dict[str, Any]]:
    counts = await count_tagged_links(resources().database, caller().org_id)
    return [tag_json(each, counts.get(each.id, 0)) for each in tags]


def _parse(body: dict[str, Any]) -> dict[str, Any]:
    """The fields of a tag that are in the body; null stands for a colour that is not chosen."""
    for name in body:
        if name not in FIELDS:
            raise InvalidField(shown_name(name), "is not a field of this request")
    return {
        name: FIELDS[name].parse(name, value)
        for name, value in body.items()
        if not (name == "color" and value is None)
    }
