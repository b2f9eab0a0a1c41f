"""Checks the documents of an archive: the service must be able to store each of them as a new one.

Anyone may have changed an archive file. So each document is checked against the rules of the service, and may
only refer to links and domains of the same archive. Ownership (storage/schema/ownership) keeps it within its
organization. Documents that affect other organizations or let somebody in have exactly the fields that their
rule names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.errors import InvalidField, RequestError
from backend.storage.accounts import domains, organizations, origin_refusals
from backend.storage.accounts.single_sign_on import settings as single_sign_on
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule
from backend.storage.lifecycle.archived_documents import (
    clicks,
    deduplication,
    feed,
    findings,
    install_counts,
    ledger,
    links,
    organization,
    resources,
    visitors,
)
from backend.storage.lifecycle.archived_documents.analytics import (
    alerts,
    costs,
    recipients,
)
from backend.storage.reports import reports
from backend.storage.schema.document_fields import check_plain
from backend.storage.schema.document_shape import DocumentShape
from backend.storage.webhooks import endpoints


def _of(shape: DocumentShape[Any]) -> DocumentRule:
    """The rule of documents that are as their shape says, and of which nothing has to fit together."""
    return lambda document, _: shape.check_with_uuid(document)


# The rules of all archived collections, by their names.
RULES: dict[str, DocumentRule] = {
    **organization.RULES,
    **links.RULES,
    **clicks.RULES,
    **install_counts.RULES,
    **feed.RULES,
    **findings.RULES,
    **ledger.RULES,
    **visitors.RULES,
    **deduplication.RULES,
    **recipients.RULES,
    **resources.RULES,
    **alerts.RULES,
    **costs.RULES,
    single_sign_on.NAME: lambda document, _: single_sign_on.FIELDS.check(document),
    endpoints.NAME: _of(endpoints.SHAPE),
    reports.NAME: _of(reports.SHAPE),
    organizations.NAME: _of(organizations.SHAPE),
}


# Refused origins, and the filters of reports and funnels, are stored exactly as they were sent, so they may
# have control characters.
_AS_SENT = {origin_refusals.NAME, reports.NAME, SAVED_FUNNELS.collection}


class BrokenRule(ValueError):
    """The document is not valid. The message says why."""


def check_document(
    name: str, document: Document, context: ArchiveContext, is_api_host: Callable[[str], bool]
) -> None:
    """Raise BrokenRule unless the document is valid as a new one of the archive's organization.

    `name` is its collection; `is_api_host` says which hosts can't be link domains.
    """
    try:
        check_plain("document", document, is_json=name in _AS_SENT)
        RULES[name](document, context)
        if name == domains.NAME and is_api_host(document["_id"]):
            raise InvalidField("_id", "is the API's own host name (WAYLINK_BASE_URL)")
    except (RequestError, ValueError, TypeError, KeyError, AttributeError) as error:
        is_told = isinstance(error, RequestError)
        why = str(error) if is_told else "the document is not as such are stored"
        raise BrokenRule(why) from None
