"""JSON Schemas of the audit log."""

from __future__ import annotations

from backend.domain.feed.event_shapes import AuditEntryJson
from backend.domain.fields.rules import Schema
from backend.domain.fields.shapes import schema_of
from backend.rest_api.routes.operation import reference

AUDIT_SCHEMAS: dict[str, Schema] = {
    "AuditEntry": schema_of(AuditEntryJson),
    "AuditLog": {
        "type": "object",
        "required": ["entries", "next_cursor"],
        "properties": {
            "entries": {"type": "array", "items": reference("AuditEntry")},
            "next_cursor": {"type": "string", "description": "Where to go on later."},
        },
    },
}
