"""Rules for the annotations of an archive."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.annotations.annotation import NotedBy
from backend.domain.annotations.input import ANNOTATION_FIELDS
from backend.domain.fields.rules import Flag, Uuid
from backend.storage.annotations import notes
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule, own_link
from backend.storage.schema.document_fields import DocumentFields, as_stored, one_of, or_none, time

_ANNOTATION = DocumentFields(
    {
        "at": time,
        "is_of_day": Flag().parse,
        "text": ANNOTATION_FIELDS["text"].parse,
        "link_id": or_none(Uuid().parse),
        "created_at": time,
        "created_by": one_of(NotedBy),
    }
)


def _annotation(document: Document, context: ArchiveContext) -> None:
    _ANNOTATION.check(document)
    as_stored("_id", document["_id"], Uuid().parse)
    if document["link_id"] is not None:
        own_link(document["link_id"], context)


RULES: Mapping[str, DocumentRule] = {notes.NAME: _annotation}
