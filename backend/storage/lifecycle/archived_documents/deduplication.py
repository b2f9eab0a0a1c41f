"""Rules for an archive's marks of calls and requests, by which one that is sent again counts once."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import HostName, LinkPath, Uuid, parse_string
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import (
    ArchiveContext,
    DocumentRule,
    expires_within,
    own_domain,
    own_id,
)
from backend.storage.links.writing import idempotency
from backend.storage.schema.document_fields import DocumentFields, Parse, integer, list_of, sha256, text, time
from backend.storage.visitors import calls, counted_once

_MARK = DocumentFields({"at": time}, {"of": sha256})
_CALL = DocumentFields({"expires_at": time})
_EARLIER: Mapping[str, Parse] = {"fingerprint": text, "expires_at": time}
_EARLIER_LINK = DocumentFields(
    {**_EARLIER, "domain": HostName().parse, "path": LinkPath().parse, "link_id": Uuid().parse}
)


def _piece(name: str, value: object) -> object:
    """A piece of an answer in JSON, which may have any characters."""
    if len(piece := parse_string(name, value)) > idempotency.PIECE_LENGTH:
        raise InvalidField(name, f"must have at most {idempotency.PIECE_LENGTH} characters each")
    return piece


_EARLIER_ANSWER = DocumentFields({**_EARLIER, "status": integer, "answer": list_of(_piece, None)})


def _call(document: Document, context: ArchiveContext) -> None:
    _CALL.check(document)
    expires_within(calls.KEPT, document, context)
    own_id(document, context.org_id, Uuid().parse("_id", str(document["_id"]).rpartition("/")[2]))


def _mark(document: Document, context: ArchiveContext) -> None:
    _MARK.check(document)
    sha256("_id", document["_id"].removeprefix(f"{context.org_id}/"))


def _earlier_request(document: Document, context: ArchiveContext) -> None:
    fields = _EARLIER_ANSWER if "answer" in document else _EARLIER_LINK
    fields.check(document)
    expires_within(idempotency.LIFETIME, document, context)
    if "answer" in document:
        if document["status"] not in {200, 201, idempotency.ANSWER_UNKNOWN, 303}:
            raise InvalidField("status", "must be that of a success")
    else:
        own_domain("domain", document["domain"], context)


RULES: Mapping[str, DocumentRule] = {
    counted_once.NAME: _mark,
    calls.NAME: _call,
    idempotency.NAME: _earlier_request,
}
