"""Rules for an archive's findings about links: reports of visitors, and destinations that do not work."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import WebAddress
from backend.domain.links.reports import REPORT_TEXT, ReportReason
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import (
    ArchiveContext,
    DocumentRule,
    expires_within,
    own_link,
)
from backend.storage.links import reports as link_reports
from backend.storage.links.destinations import broken as broken_destinations
from backend.storage.schema.document_fields import (
    DocumentFields,
    integer,
    list_of,
    nested,
    one_of,
    text,
    time,
)


def _report_text(name: str, value: object) -> object:
    return value if value == "" else REPORT_TEXT.parse(name, value)


def _count(name: str, value: object) -> object:
    if not isinstance(count := integer(name, value), int) or count < 1:
        raise InvalidField(name, "must be a whole number from 1")
    return count


_REPORT = DocumentFields({"reason": one_of(ReportReason), "text": _report_text, "at": time})
_REPORTS = DocumentFields(
    {
        "count": _count,
        "latest": list_of(nested(_REPORT), link_reports.MOST_KEPT),
        "last_at": time,
        "expires_at": time,
    }
)
_BROKEN = DocumentFields({"field": text, "url": WebAddress().parse, "problem": text, "since": time})
_BROKEN_LINK = DocumentFields(
    {
        "broken": list_of(nested(_BROKEN), None),
        "since": time,
        "checked_at": time,
        "expires_at": time,
    }
)


def _of_link(fields: DocumentFields, kept: timedelta) -> DocumentRule:
    def check(document: Document, context: ArchiveContext) -> None:
        fields.check(document)
        expires_within(kept, document, context)
        own_link(document["_id"], context)

    return check


RULES: Mapping[str, DocumentRule] = {
    link_reports.NAME: _of_link(_REPORTS, link_reports.KEPT),
    broken_destinations.NAME: _of_link(_BROKEN_LINK, broken_destinations.KEPT),
}
