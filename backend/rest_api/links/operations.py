"""Operations on links, as data."""

from __future__ import annotations

from backend.domain.fields.rules import Flag, Schema, Word
from backend.domain.links.input import CREATE_FIELDS, CREATE_REQUIRED, UPDATE_FIELDS
from backend.domain.links.links import CreatedBy
from backend.json_api import error_table
from backend.rest_api.links import listing as list_links
from backend.rest_api.links.find import DEFAULT_PAGE_SIZE, MAX_PAGE, MAX_PAGE_SIZE
from backend.rest_api.links.schemas import fields_schema
from backend.rest_api.links.write import DELETE_QUERY
from backend.rest_api.routes import idempotency_key
from backend.rest_api.routes.operation import (
    BODY_ERRORS,
    EVERYWHERE,
    KEY_ERRORS,
    SHORT_URL,
    Operation,
    query,
    reference,
)

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
        body=fields_schema(CREATE_FIELDS, CREATE_REQUIRED),
        parameters=(_IDEMPOTENCY_KEY,),
        to_the_letter=True,
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
        body=fields_schema(UPDATE_FIELDS),
        parameters=(_LINK_ID,),
        to_the_letter=True,
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
        to_the_letter=True,
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
        to_the_letter=True,
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
        body=reference("NewLink"),
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
        body=reference("LinkCopy"),
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
        body=reference("LinkChanges"),
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
        body=reference("LinkOperations"),
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
        to_the_letter=True,
    ),
)
