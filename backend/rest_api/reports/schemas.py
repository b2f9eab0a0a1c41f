"""JSON Schemas of reports in answers."""

from __future__ import annotations

from backend.domain.fields.rules import Schema
from backend.domain.mail.mail import MailState
from backend.domain.reports.recipient import Frequency, RecipientState
from backend.domain.reports.views import ViewKind
from backend.rest_api.routes.answer_schemas import answer_object
from backend.rest_api.routes.operation import reference

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_INSTANT: Schema = {"type": "string", "format": "date-time", "description": "UTC, in whole seconds."}
_INSTANT_OR_NULL: Schema = {"anyOf": [_INSTANT, {"type": "null"}]}
_REPORT: dict[str, Schema] = {
    "id": {"type": "string", "format": "uuid"},
    "name": _TEXT,
    "url": _TEXT | {"description": "Whoever has it may open the report."},
    "kind": {"type": "string", "enum": [kind.value for kind in ViewKind]},
    "query": {
        "type": "object",
        "additionalProperties": True,
        "description": "As it was given, without fields that are null.",
    },
    "shows_revenue": _FLAG,
    "shows_notes": _FLAG | {"description": "Whether its chart has the organization's notes."},
    "has_password": _FLAG,
    "embed_origins": {"type": "array", "items": _TEXT},
    "expires_at": _INSTANT_OR_NULL,
    "created_at": _INSTANT,
    "opened_at": _INSTANT_OR_NULL | {"description": "When it was opened last, to the minute; null: never."},
}
_RECIPIENT: dict[str, Schema] = {
    "id": {"type": "string", "format": "uuid"},
    "report_id": {"type": "string", "format": "uuid"},
    "address": _TEXT,
    "frequency": {"type": "string", "enum": [frequency.value for frequency in Frequency]},
    "language": _TEXT,
    "timezone": _TEXT,
    "state": {"type": "string", "enum": [state.value for state in RecipientState]},
    "created_at": _INSTANT,
    "confirmed_at": _INSTANT_OR_NULL,
    "next_at": _INSTANT_OR_NULL | {"description": "When the next mail is due; null: never."},
    "error": {
        "anyOf": [_TEXT, {"type": "null"}],
        "description": "Why the mail server refuses the address, or the figures could not be made.",
    },
    "last_mail": {
        "anyOf": [
            {
                "type": "object",
                "required": ["state", "at", "error"],
                "properties": {
                    "state": {"type": "string", "enum": [state.value for state in MailState]},
                    "at": _INSTANT,
                    "error": {"anyOf": [_TEXT, {"type": "null"}]},
                },
            },
            {"type": "null"},
        ],
        "description": "What became of the last mail, that to confirm included; null: none within a "
        "hundred days.",
    },
}
REPORT_SCHEMAS: dict[str, Schema] = {
    "ReportRecipient": answer_object(**_RECIPIENT),
    "ReportRecipientList": {
        "type": "object",
        "required": ["recipients"],
        "properties": {"recipients": {"type": "array", "items": reference("ReportRecipient")}},
    },
    "Report": answer_object(**_REPORT),
    "ReportList": {
        "type": "object",
        "required": ["reports"],
        "properties": {"reports": {"type": "array", "items": reference("Report")}},
    },
}
