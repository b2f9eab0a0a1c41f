"""JSON Schemas of reports in answers."""

from __future__ import annotations

from backend.domain.fields.answer_schemas import ANYTHING, TEXT, TEXTS, TIME, UUID, answer_object, or_null
from backend.domain.fields.rules import Schema
from backend.domain.mail.mail import MailState
from backend.domain.reports.recipient import Frequency, RecipientState
from backend.domain.reports.views import ViewKind
from backend.rest_api.routes.operation import reference

_FLAG: Schema = {"type": "boolean"}
REPORT_SCHEMAS: dict[str, Schema] = {
    "ReportRecipient": answer_object(
        id=UUID,
        report_id=UUID,
        address=TEXT,
        frequency={"type": "string", "enum": [frequency.value for frequency in Frequency]},
        language=TEXT,
        timezone=TEXT,
        state={"type": "string", "enum": [state.value for state in RecipientState]},
        created_at=TIME,
        confirmed_at=or_null(TIME),
        next_at=or_null(TIME, "When the next mail is due; null: never."),
        error=or_null(TEXT, "Why the mail server refuses the address, or the figures could not be made."),
        last_mail=or_null(
            answer_object(
                state={"type": "string", "enum": [state.value for state in MailState]},
                at=TIME,
                error=or_null(TEXT),
            ),
            "What became of the last mail, that to confirm included; null: none within a hundred days.",
        ),
    ),
    "ReportRecipientList": answer_object(
        recipients={"type": "array", "items": reference("ReportRecipient")},
    ),
    "Report": answer_object(
        id=UUID,
        name=TEXT,
        url=TEXT | {"description": "Whoever has it may open the report."},
        kind={"type": "string", "enum": [kind.value for kind in ViewKind]},
        query=ANYTHING | {"description": "As it was given, without fields that are null."},
        shows_revenue=_FLAG,
        shows_notes=_FLAG | {"description": "Whether its chart has the organization's notes."},
        has_password=_FLAG,
        embed_origins=TEXTS,
        expires_at=or_null(TIME),
        created_at=TIME,
        opened_at=or_null(TIME, "When it was opened last, to the minute; null: never."),
    ),
    "ReportList": answer_object(reports={"type": "array", "items": reference("Report")}),
}
