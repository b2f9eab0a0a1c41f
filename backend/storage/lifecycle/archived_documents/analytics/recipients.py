"""Rules for the recipients of reports of an archive."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import EmailAddress, address_hash
from backend.domain.fields.rules import Uuid
from backend.domain.mail.language import Language
from backend.domain.mail.mail import LONGEST_ERROR
from backend.domain.reports.recipient import CONFIRMED_WITHIN, Frequency, RecipientState
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import (
    ArchiveContext,
    DocumentRule,
    expires_within,
)
from backend.storage.reports import recipients
from backend.storage.schema.document_fields import (
    DocumentFields,
    as_stored,
    one_of,
    or_none,
    sha256,
    text_of,
    time,
    time_zone,
    url_token,
)

_RECIPIENT = DocumentFields(
    {
        "report_id": Uuid().parse,
        "address": EmailAddress().parse,
        "address_sha256": sha256,
        "frequency": one_of(Frequency),
        "language": one_of(Language),
        "timezone": time_zone,
        "created_at": time,
        "token": url_token,
        "state": one_of(RecipientState),
        "code": or_none(url_token),
        "expires_at": or_none(time),
        "confirmed_at": or_none(time),
        "next_at": or_none(time),
        "error": or_none(text_of(LONGEST_ERROR)),
    }
)


def _recipient(document: Document, context: ArchiveContext) -> None:
    _RECIPIENT.check(document)
    as_stored("_id", document["_id"], Uuid().parse)
    if document["address_sha256"] != address_hash(document["address"]):
        raise InvalidField("address_sha256", "does not belong to the address")
    if document["state"] == RecipientState.CONFIRMED and document["confirmed_at"] is None:
        raise InvalidField("confirmed_at", "must be a date of who has confirmed")
    expires_within(CONFIRMED_WITHIN, document, context)


RULES: Mapping[str, DocumentRule] = {recipients.NAME: _recipient}
