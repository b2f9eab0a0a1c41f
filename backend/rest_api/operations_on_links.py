"""Operations on links, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.field_rules import Flag, Rule, Schema, Word
from backend.domain.link_input import (
    CHANGE_FIELDS,
    CLEARABLE,
    CLEARED_BY_NULL_ONLY,
    CREATE_FIELDS,
    CREATE_REQUIRED,
    NEW_LINK_FIELDS,
    UPDATE_FIELDS,
)
from backend.domain.links import CreatedBy
from backend.json_api import error_table
from backend.rest_api import idempotency_key, list_links
from backend.rest_api.bulk_links import MOST_OPERATIONS, OPS
from backend.rest_api.find_links import DEFAULT_PAGE_SIZE, MAX_PAGE, MAX_PAGE_SIZE
from backend.rest_api.operation import (
    BODY_ERRORS,
    EVERYWHERE,
    KEY_ERRORS,
    SHORT_URL,
    Operation,
    clearable,
    query,
)
from backend.rest_api.write_links import DELETE_QUERY


def _fields(rules: Mapping[str, Rule[Any]], required: Mapping[str, Rule[Any]]) -> Schema:
    """The schema of a body that has these fields only.

    An optional field may be null; if it is text, also empty.
    """
    properties = {
        name: clearable(rule.schema(), by_empty=name not in CLEARED_BY_NULL_ONLY)
        if name in CLEARABLE
        else rule.schema()
        for name, rule in rules.items()
    }
    kept = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False} | kept


_LINK_ID: Schema = {
    "name": "linkId",
    "in": "path",
    "required": True,
    "description": "The link's id.",
    "schema": {"type": "string", "format": "uuid"},
}
_IDEMPOTENCY_KEY: Schema = {
    "name": idempotency_key.HEADER,
    "in": "header",
    "required": False,
    "description": "A name of yours for this request. Sent again with the same body within 24 hours, it gets "
    "the first answer and makes no second link.",
    "schema": {"type": "string", "pattern": f"^{idempotency_key.PATTERN}$"},
}
_PAGE_PARAMETERS = (
    query("page", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": 1}, "Page, from 1."),
    query(
        "size",
        {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": DEFAULT_PAGE_SIZE},
        "Links on a page.",
    ),
    query(
        "createdBy",
        Word(CreatedBy).schema(),
        "Only links made with this kind of key; without it, all of the organization.",
    ),
)
_LIST_MEANINGS = {
    "search": "Text in name, path or destination, or a complete short URL.",
    "domain": "Only links on this domain.",
    "state": "Only links in this state; without it, all but archived ones.",
    "tag": "Only links with this tag, by its name in any case.",
    "campaign": "Only links with this utm_campaign.",
    "external_id": "Only the link with this external id, also if it is archived.",
    "created_by": "Only links made with this kind of key; without it, all of the organization.",
    "created_after": "Only links made at this time or later.",
    "created_before": "Only links made before this time.",
    "modified_after": "Only links changed at this time or later.",
    "modified_before": "Only links changed before this time.",
    "sort": "The order, with - before it for descending. Clicks are those of the last 7 or 30 days.",
    "size": "Links on a page.",
    "cursor": "The next_cursor of the page before, with the same filters and order.",
}
_LIST_PARAMETERS = tuple(
    query(name, rule.schema(), _LIST_MEANINGS[name]) for name, rule in list_links.QUERY.items()
)
_DELETE_MEANINGS = {
    "purge": "Delete the link for good, with its counts; its path is free again.",
    "force": "Purge it even if it has clicks.",
}
_DELETE_PARAMETERS = tuple(
    query(name, rule.schema(), _DELETE_MEANINGS[name]) for name, rule in DELETE_QUERY.items()
)
_BULK: Schema = {
    "type": "object",
    "required": ["operations"],
    "additionalProperties": False,
    "properties": {
        "operations": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_OPERATIONS,
            # What breaks a rule in here is told in the operation's own result.
            "description": f"Each has `op` ({', '.join(OPS)}), `id` for update and archive, and `link` with "
            "the fields of POST /links for create and upsert, of PATCH /links for update.",
            "items": {},
        }
    },
}

OPERATIONS = (
    Operation(
        "create_link",
        "post",
        "/create-link",
        "Create a link",
        201,
        "Created",
        (
            error_table.FIELD_MISSING,
            error_table.DOMAIN_NOT_CONFIGURED,
            error_table.PATH_TAKEN,
            error_table.IDEMPOTENCY_KEY_REUSED,
            *BODY_ERRORS,
            error_table.KEY_MISSING,
            error_table.KEY_INVALID_FOR_CREATE,
            *EVERYWHERE,
        ),
        body=_fields(CREATE_FIELDS, CREATE_REQUIRED),
        parameters=(_IDEMPOTENCY_KEY,),
    ),
    Operation(
        "update_link",
        "patch",
        "/update-link/{linkId}",
        "Change fields of a link",
        200,
        "Changed",
        (
            error_table.LINK_ID_INVALID,
            *BODY_ERRORS,
            *KEY_ERRORS,
            error_table.LINK_NOT_FOUND,
            *EVERYWHERE,
        ),
        body=_fields(UPDATE_FIELDS, {}),
        parameters=(_LINK_ID,),
    ),
    Operation(
        "change_status",
        "patch",
        "/links/change-status/{linkId}",
        "Enable or disable a link",
        200,
        "Changed",
        (
            error_table.LINK_ID_INVALID,
            error_table.FIELD_MISSING,
            *BODY_ERRORS,
            *KEY_ERRORS,
            error_table.LINK_NOT_FOUND,
            *EVERYWHERE,
        ),
        body={
            "type": "object",
            "required": ["is_enabled"],
            "properties": {"is_enabled": Flag().schema()},
        },
        parameters=(_LINK_ID,),
    ),
    Operation(
        "links_info",
        "post",
        "/links/info",
        "Get a link by its short URL",
        200,
        "Link",
        (
            error_table.SHORT_URL_EMPTY,
            error_table.SHORT_URL_UNKNOWN,
            *BODY_ERRORS,
            *KEY_ERRORS,
            *EVERYWHERE,
        ),
        body={
            "type": "object",
            "required": ["shortUrl"],
            "properties": {"shortUrl": SHORT_URL | {"minLength": 1}},
        },
    ),
    Operation(
        "list_links",
        "get",
        "/links",
        "List links with every field, by filters and in any order",
        200,
        "LinkList",
        (error_table.QUERY_INVALID, *KEY_ERRORS, *EVERYWHERE),
        parameters=_LIST_PARAMETERS,
    ),
    Operation(
        "post_link",
        "post",
        "/links",
        "Create a link; with a known external_id, bring its link up to date",
        201,
        "WholeLink",
        (
            error_table.QUERY_INVALID,
            error_table.FIELD_MISSING,
            error_table.DOMAIN_NOT_CONFIGURED,
            error_table.PATH_TAKEN,
            error_table.EXTERNAL_ID_TAKEN,
            error_table.IDEMPOTENCY_KEY_REUSED,
            *BODY_ERRORS,
            *KEY_ERRORS,
            *EVERYWHERE,
        ),
        body=_fields(NEW_LINK_FIELDS, CREATE_REQUIRED),
        parameters=(_IDEMPOTENCY_KEY,),
        other_status=200,
    ),
    Operation(
        "duplicate_link",
        "post",
        "/links/{linkId}/duplicate",
        "Make a link like this one",
        201,
        "WholeLink",
        (
            error_table.LINK_ID_INVALID,
            error_table.QUERY_INVALID,
            error_table.DOMAIN_NOT_CONFIGURED,
            error_table.PATH_TAKEN,
            error_table.EXTERNAL_ID_TAKEN,
            error_table.IDEMPOTENCY_KEY_REUSED,
            *BODY_ERRORS,
            *KEY_ERRORS,
            error_table.LINK_NOT_FOUND,
            *EVERYWHERE,
        ),
        body=_fields(NEW_LINK_FIELDS, {}),
        parameters=(_LINK_ID, _IDEMPOTENCY_KEY),
    ),
    Operation(
        "get_link",
        "get",
        "/links/{linkId}",
        "Get a link with every field",
        200,
        "WholeLink",
        (
            error_table.LINK_ID_INVALID,
            error_table.QUERY_INVALID,
            *KEY_ERRORS,
            error_table.LINK_NOT_FOUND,
            *EVERYWHERE,
        ),
        parameters=(_LINK_ID,),
    ),
    Operation(
        "patch_link",
        "patch",
        "/links/{linkId}",
        "Change fields and state of a link",
        200,
        "WholeLink",
        (
            error_table.LINK_ID_INVALID,
            error_table.QUERY_INVALID,
            error_table.EXTERNAL_ID_TAKEN,
            *BODY_ERRORS,
            *KEY_ERRORS,
            error_table.LINK_NOT_FOUND,
            *EVERYWHERE,
        ),
        body=_fields(CHANGE_FIELDS, {}),
        parameters=(_LINK_ID,),
    ),
    Operation(
        "delete_link",
        "delete",
        "/links/{linkId}",
        "Archive a link, or purge it",
        204,
        None,
        (
            error_table.LINK_ID_INVALID,
            error_table.QUERY_INVALID,
            *KEY_ERRORS,
            error_table.LINK_NOT_FOUND,
            error_table.LINK_HAS_CLICKS,
            error_table.LINK_IS_HELD,
            *EVERYWHERE,
        ),
        parameters=(_LINK_ID, *_DELETE_PARAMETERS),
    ),
    Operation(
        "fill_preview",
        "post",
        "/links/{linkId}/preview",
        "Fill in social fields from the page that the link leads to",
        200,
        "WholeLink",
        (
            error_table.LINK_ID_INVALID,
            error_table.QUERY_INVALID,
            error_table.PAGE_UNREADABLE,
            *KEY_ERRORS,
            error_table.LINK_NOT_FOUND,
            *EVERYWHERE,
        ),
        parameters=(_LINK_ID,),
    ),
    Operation(
        "bulk_links",
        "post",
        "/links/bulk",
        "Create, change or archive up to 1,000 links",
        200,
        "BulkResults",
        (
            error_table.QUERY_INVALID,
            error_table.FIELD_MISSING,
            error_table.IDEMPOTENCY_KEY_REUSED,
            *BODY_ERRORS,
            *KEY_ERRORS,
            *EVERYWHERE,
        ),
        body=_BULK,
        parameters=(_IDEMPOTENCY_KEY,),
    ),
    Operation(
        "links_page",
        "get",
        "/links/page",
        "List the organization's links, newest first",
        200,
        "LinkPage",
        (
            error_table.PAGE_SIZE_INVALID,
            error_table.PAGE_INVALID,
            error_table.CREATED_BY_INVALID,
            *KEY_ERRORS,
            *EVERYWHERE,
        ),
        parameters=_PAGE_PARAMETERS,
    ),
)
