"""JSON Schemas of the REST API's answers (contract, "Resources and their fields", "Errors")."""

from __future__ import annotations

from backend.domain.field_rules import Schema

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
# The contract's date-times carry no zone, so `format: date-time` would be wrong.
_TIME: Schema = {
    "type": "string",
    "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$",
    "description": "UTC, in whole seconds, without zone.",
}


def _object(**properties: Schema) -> Schema:
    """The schema of an object with at least these properties: version 1 may get more."""
    return {"type": "object", "required": list(properties), "properties": properties}


def _counts(what: str) -> Schema:
    names = (f"{what}_last_30_days", f"{what}_last_7_days", f"total_{what}")
    return _object(**dict.fromkeys(names, _COUNT))


_INNER = _object(errorMessage=_TEXT, fieldName=_TEXT)
_CODE: Schema = {"type": "integer"}
_SUCCESS: Schema = {"const": "success"}
_UUID: Schema = {"type": "string", "format": "uuid"}

SCHEMAS: dict[str, Schema] = {
    "Link": _object(
        id=_UUID,
        short_url=_TEXT,
        destination_url=_TEXT,
        link_name=_TEXT,
        is_enabled={"type": "boolean"},
        createdTime=_TIME,
        modifiedTime=_TIME,
        org_id=_TEXT,
    ),
    "Pagination": _object(
        current_page={"type": "integer", "minimum": 1},
        page_size={"type": "integer", "minimum": 1},
        total_items=_COUNT,
        total_pages=_COUNT,
    ),
    "LinkPage": _object(
        links={"type": "array", "items": {"$ref": "#/components/schemas/Link"}},
        pagination={"$ref": "#/components/schemas/Pagination"},
    ),
    "Created": _object(status=_SUCCESS, message=_TEXT, short_url=_TEXT),
    "Changed": _object(message=_TEXT, status=_SUCCESS),
    "ClickAnalytics": _counts("clicks"),
    "InstallAnalytics": _counts("installs"),
    "Error": _object(code=_CODE, errorMessage=_TEXT, error=_INNER),
    "ErrorList": _object(
        code=_CODE,
        errorMessage=_TEXT,
        errors={"type": "array", "minItems": 1, "items": _INNER},
    ),
}
