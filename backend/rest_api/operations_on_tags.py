"""Operations on tags, as data."""

from __future__ import annotations

from backend.domain.field_rules import Schema
from backend.json_api import error_table
from backend.rest_api.operation import BODY_ERRORS, EVERYWHERE, KEY_ERRORS, Operation
from backend.rest_api.tags import FIELDS

_NAME: Schema = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "The tag's name, in any case; / in it may stay as it is.",
    "schema": FIELDS["name"].schema(),
}
_BODY: Schema = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": FIELDS["name"].schema(),
        "color": {"anyOf": [FIELDS["color"].schema(), {"type": "null"}]},
    },
}
_ERRORS = (error_table.QUERY_INVALID, *KEY_ERRORS, *EVERYWHERE)

OPERATIONS = (
    Operation("get_tags", "get", "/tags", "List the tags, each with its links", 200, "TagList", _ERRORS),
    Operation(
        "post_tag",
        "post",
        "/tags",
        "Make a tag",
        201,
        "Tag",
        (error_table.FIELD_MISSING, error_table.TAG_TAKEN, *BODY_ERRORS, *_ERRORS),
        body=_BODY | {"required": ["name"]},
    ),
    Operation(
        "patch_tag",
        "patch",
        "/tags/{name}",
        "Rename or colour a tag, on all links at once",
        200,
        "Tag",
        (error_table.TAG_TAKEN, error_table.TAG_NOT_FOUND, *BODY_ERRORS, *_ERRORS),
        body=_BODY,
        parameters=(_NAME,),
    ),
    Operation(
        "remove_tag",
        "delete",
        "/tags/{name}",
        "Delete a tag, which takes it off all links at once",
        204,
        None,
        (error_table.TAG_NOT_FOUND, *_ERRORS),
        parameters=(_NAME,),
    ),
)
