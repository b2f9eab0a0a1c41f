"""Operations on tags and UTM templates, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import Rule, Schema
from backend.json_api import error_table
from backend.rest_api.routes.operation import BODY_ERRORS, EVERYWHERE, KEY_ERRORS, Operation, clearable
from backend.rest_api.tags import tags, utm_templates

_NAME: Schema = {
    "name": "name",
    "in": "path",
    "required": True,
    "description": "The name, in any case; / in it may stay as it is.",
    "schema": ItemName().schema(),
}
_ERRORS = (error_table.QUERY_INVALID, *KEY_ERRORS, *EVERYWHERE)


def _body(rules: Mapping[str, Rule[Any]], may_be_empty: frozenset[str]) -> Schema:
    properties = {
        name: clearable(rule.schema()) if name in may_be_empty else rule.schema()
        for name, rule in rules.items()
    }
    return {"type": "object", "additionalProperties": False, "properties": properties}


_TAG = _body(tags.FIELDS, tags.CLEARABLE)
_TEMPLATE = _body(utm_templates.FIELDS, utm_templates.CLEARABLE)

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
        body=_TAG | {"required": ["name"]},
    ),
    Operation(
        "patch_tag",
        "patch",
        "/tags/{name}",
        "Rename or colour a tag, on all links at once",
        200,
        "Tag",
        (error_table.TAG_TAKEN, error_table.TAG_NOT_FOUND, *BODY_ERRORS, *_ERRORS),
        body=_TAG,
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
    Operation(
        "get_templates", "get", "/utm-templates", "List the UTM templates", 200, "UtmTemplateList", _ERRORS
    ),
    Operation(
        "post_template",
        "post",
        "/utm-templates",
        "Make a UTM template",
        201,
        "UtmTemplate",
        (error_table.FIELD_MISSING, error_table.TEMPLATE_TAKEN, *BODY_ERRORS, *_ERRORS),
        body=_TEMPLATE | {"required": ["name"]},
    ),
    Operation(
        "patch_template",
        "patch",
        "/utm-templates/{name}",
        "Rename or change a UTM template",
        200,
        "UtmTemplate",
        (error_table.TEMPLATE_TAKEN, error_table.TEMPLATE_NOT_FOUND, *BODY_ERRORS, *_ERRORS),
        body=_TEMPLATE,
        parameters=(_NAME,),
    ),
    Operation(
        "remove_template",
        "delete",
        "/utm-templates/{name}",
        "Delete a UTM template",
        204,
        None,
        (error_table.TEMPLATE_NOT_FOUND, *_ERRORS),
        parameters=(_NAME,),
    ),
)
