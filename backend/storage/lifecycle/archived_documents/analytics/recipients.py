"""Rules for the recipients of reports of an archive."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import address_hash
from backend.domain.reports.recipient import CONFIRMED_WITHIN, RecipientState
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import (
    ArchiveContext,
    DocumentRule,
    expires_within,
)
from backend.storage.reports import recipients


def _recipient(document: Document, context: ArchiveContext) -> None:
    recipients.SHAPE.check_with_uuid(document)
    if document["address_sha256"] != address_hash(document["address"]):
        raise InvalidField("address_sha256", "does not belong to the address")
    if document["state"] == RecipientState.CONFIRMED and document["confirmed_at"] is None:
        raise InvalidField("confirmed_at", "must be a date of who has confirmed")
    expires_within(CONFIRMED_WITHIN, document, context)


RULES: Mapping[str, DocumentRule] = {recipients.NAME: _recipient}
