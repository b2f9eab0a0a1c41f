"""The form that asks somebody whether they want a report's figures by mail."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from quart import request

from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.frame.form import field
from backend.domain.errors import FieldError
from backend.domain.fields.rules import parse_fields
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import RECIPIENT_FIELDS, Frequency, Recipient

Fields = dict[str, str]
Problems = dict[str, str]
# Of a try, which goes to whoever wants it.
OF_A_TRY = tuple(name for name in RECIPIENT_FIELDS if name != "address")


def new_fields() -> Fields:
    """The text of each field of a new form, for the report of the page's address."""
    return {
        "report_id": request.args.get("report", ""),
        "address": "",
        "frequency": Frequency.WEEKLY.value,
        "language": Language.EN.value,
        "timezone": zone_of_browser().key,
    }


def fields_of(reader: Recipient) -> Fields:
    """The text of each field that can be changed of a reader."""
    return {
        "frequency": reader.frequency.value,
        "language": reader.language.value,
        "timezone": reader.timezone,
    }


def sent_fields() -> Fields:
    """The text of each field from the current request."""
    return {name: field(name) for name in RECIPIENT_FIELDS}


def read_fields(fields: Fields, problems: Problems, names: Collection[str]) -> Mapping[str, Any]:
    """These fields, parsed. What is wrong is added to `problems`."""
    errors: list[FieldError] = []
    parsed = parse_fields(RECIPIENT_FIELDS, {name: fields[name] for name in names}, errors)
    for error in errors:
        problems.setdefault(error.field, error.rule)
    return parsed
