"""JSON Schemas of the bodies that create and change links, from the rules that check them, and of links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from backend.domain.fields.answer_schemas import (
    CONTRACT_TIME,
    COUNT,
    TEXT,
    UUID,
    answer_object,
    or_null,
)
from backend.domain.fields.rules import Rule, Schema, Word
from backend.domain.links.input import (
    CHANGE_FIELDS,
    CLEARABLE,
    CLEARED_BY_NULL_ONLY,
    CREATE_REQUIRED,
    LINK_RULES,
    NEW_LINK_FIELDS,
)
from backend.domain.links.operations import Done
from backend.rest_api.links.bulk import MOST_OPERATIONS
from backend.rest_api.routes.body_fields import clearable
from backend.rest_api.routes.operation import reference


def fields_schema(rules: Mapping[str, Rule[Any]], required: Iterable[str] = ()) -> Schema:
    """The schema of a body that has these fields only.

    An optional field may be null; if it is text, also empty.
    """
    properties = {
        name: clearable(rule.schema(), by_empty=name not in CLEARED_BY_NULL_ONLY)
        if name in CLEARABLE and name not in required
        else rule.schema()
        for name, rule in rules.items()
    }
    kept = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False} | kept


def _whole(rules: Mapping[str, Rule[Any]], required: Iterable[str] = ()) -> Schema:
    """The schema of `fields_schema`, with the link's rules as a component of their own."""
    body = fields_schema(rules, required)
    listed, null = LINK_RULES.schema()["anyOf"]
    return body | {
        "properties": body["properties"]
        | {"rules": {"anyOf": [listed | {"items": reference("LinkRule")}, null]}}
    }


def _operation(op: str, needs_id: bool, link: str | None) -> Schema:
    properties: Schema = {"op": {"type": "string", "const": op}}
    if needs_id:
        properties["id"] = {"type": "string", "format": "uuid"}
    if link:
        properties["link"] = reference(link)
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


_BY_OP = {
    "create": ("CreateOperation", _operation("create", needs_id=False, link="NewLink")),
    "upsert": ("UpsertOperation", _operation("upsert", needs_id=False, link="NewLinkWithExternalId")),
    "update": ("UpdateOperation", _operation("update", needs_id=True, link="LinkChanges")),
    "archive": ("ArchiveOperation", _operation("archive", needs_id=True, link=None)),
}
_OPERATIONS: Schema = {
    "type": "array",
    "minItems": 1,
    "maxItems": MOST_OPERATIONS,
    "items": {
        "oneOf": [reference(name) for name, _ in _BY_OP.values()],
        "discriminator": {
            "propertyName": "op",
            "mapping": {op: reference(name)["$ref"] for op, (name, _) in _BY_OP.items()},
        },
    },
}
_BODIES: dict[str, Schema] = {
    "LinkRule": LINK_RULES.schema()["anyOf"][0]["items"],
    "NewLink": _whole(NEW_LINK_FIELDS, CREATE_REQUIRED),
    "NewLinkWithExternalId": _whole(NEW_LINK_FIELDS, [*CREATE_REQUIRED, "external_id"]),
    "LinkCopy": _whole(NEW_LINK_FIELDS),
    "LinkChanges": _whole(CHANGE_FIELDS),
    **dict(_BY_OP.values()),
    "LinkOperations": {
        "type": "object",
        "description": "What is wrong with an operation is told in its own result.",
        "required": ["operations"],
        "properties": {"operations": _OPERATIONS},
        "additionalProperties": False,
    },
}
_SUCCESS: Schema = {"const": "success"}
_ANSWERS: dict[str, Schema] = {
    "Link": answer_object(
        id=UUID,
        short_url=TEXT,
        destination_url=TEXT,
        link_name=TEXT,
        is_enabled={"type": "boolean"},
        createdTime=CONTRACT_TIME,
        modifiedTime=CONTRACT_TIME,
        org_id=TEXT,
    ),
    "LinkPage": answer_object(
        links={"type": "array", "items": reference("Link")},
        pagination=reference("Pagination"),
    ),
    "Pagination": answer_object(
        current_page={"type": "integer", "minimum": 1},
        page_size={"type": "integer", "minimum": 1},
        total_items=COUNT,
        total_pages=COUNT,
    ),
    "LinkList": answer_object(
        links={"type": "array", "items": reference("WholeLink")},
        next_cursor=or_null(TEXT),
    ),
    "Created": answer_object(status=_SUCCESS, message=TEXT, short_url=TEXT),
    "Changed": answer_object(message=TEXT, status=_SUCCESS),
    "BulkResults": answer_object(
        results={"type": "array", "items": reference("BulkResult")},
    ),
    "BulkResult": {
        "type": "object",
        "required": ["status"],
        "properties": {
            "status": Word(Done).schema(),
            "id": UUID,
            "short_url": TEXT,
            "error": reference("ErrorAnswer") | {"description": "Why it is rejected."},
        },
    },
}
LINK_SCHEMAS = _BODIES | _ANSWERS
