"""JSON Schemas of reports in answers."""

from __future__ import annotations

from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_INSTANT: Schema = {"type": "string", "format": "date-time", "description": "UTC, in whole seconds."}
_INSTANT_OR_NULL: Schema = {"anyOf": [_INSTANT, {"type": "null"}]}
_REPORT: dict[str, Schema] = {
    "id": {"type": "string", "format": "uuid"},
    "name": _TEXT,
    "url": _TEXT | {"description": "Whoever has it may open the report."},
    "query": {
        "type": "object",
        "additionalProperties": True,
        "description": "As it was given, without fields that are null.",
    },
    "shows_revenue": _FLAG,
    "has_password": _FLAG,
    "embed_origins": {"type": "array", "items": _TEXT},
    "expires_at": _INSTANT_OR_NULL,
    "created_at": _INSTANT,
    "opened_at": _INSTANT_OR_NULL | {"description": "When it was opened last, to the minute; null: never."},
}
REPORT_SCHEMAS: dict[str, Schema] = {
    "Report": {"type": "object", "required": list(_REPORT), "properties": _REPORT},
    "ReportList": {
        "type": "object",
        "required": ["reports"],
        "properties": {"reports": {"type": "array", "items": reference("Report")}},
    },
}
