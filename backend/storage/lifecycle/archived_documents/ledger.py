"""Rules for the signed statements of an archive's ledger, which another installation may have signed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from backend.domain.errors import InvalidField
from backend.domain.ledger.statements import Statement
from backend.storage.driver.mongo import Document
from backend.storage.ledger import statements
from backend.storage.ledger.ed25519 import is_signed
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule, own_id

_FIELDS = {"_id", "signature", *(field.name for field in fields(Statement))}


def _statement(document: Document, context: ArchiveContext) -> None:
    """Raise an error unless the statement is signed by the key that it names."""
    if document.keys() != _FIELDS:
        raise InvalidField("_id", "must be a statement's, with its fields and no others")
    signed = statements.from_document(document)
    own_id(document, context.org_id, signed.statement.day)
    if not is_signed(signed.statement.key, signed.statement.text, signed.signature):
        raise InvalidField("signature", "must be by the statement's key")


RULES: Mapping[str, DocumentRule] = {statements.NAME: _statement}
