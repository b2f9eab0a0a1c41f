"""Rules for the reports of an archive."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.accounts.users import is_password_hash
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Flag, Uuid, Word, parse_string
from backend.domain.reports.input import REPORT_FIELDS, REPORT_NAME
from backend.domain.reports.saved_query import SavedQuery
from backend.domain.reports.views import ViewKind
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule
from backend.storage.reports import reports
from backend.storage.schema.document_fields import DocumentFields, as_stored, or_none, time, url_token


def _password_hash(name: str, value: object) -> object:
    if not is_password_hash(parse_string(name, value)):
        raise InvalidField(name, "must be a hash by Argon2id, of no more work than ours")
    return value


def _embed_origins(name: str, value: object) -> object:
    return list(REPORT_FIELDS["embed_origins"].parse(name, value))


_REPORT = DocumentFields(
    {
        "name": REPORT_NAME.parse,
        # What it asks for is checked when it is read: the time may have made it one that can't be answered.
        "query": SavedQuery().parse,
        "created_at": time,
        "token": url_token,
        "shows_revenue": Flag().parse,
        "shows_notes": Flag().parse,
        "password_hash": or_none(_password_hash),
        "embed_origins": _embed_origins,
        "expires_at": or_none(time),
        "opened_at": or_none(time),
    },
    optional={"kind": Word(ViewKind).parse},
)


def _report(document: Document, _: ArchiveContext) -> None:
    _REPORT.check(document)
    as_stored("_id", document["_id"], Uuid().parse)


RULES: Mapping[str, DocumentRule] = {reports.NAME: _report}
