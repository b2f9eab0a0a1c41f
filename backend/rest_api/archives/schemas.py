"""JSON Schemas of archives in answers."""

from __future__ import annotations

from backend.domain.archives.archive import ArchiveState
from backend.domain.fields.answer_schemas import COUNT, TEXT, TIME, UUID, answer_object, or_null
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.operation import reference

_ARCHIVE: dict[str, Schema] = {
    "id": UUID,
    "state": {"type": "string", "enum": [state.value for state in ArchiveState]},
    "asked_by": TEXT | {"description": "The address of a member, or that a key asked for it."},
    "asked_at": TIME,
    "expires_at": TIME | {"description": "When it is deleted."},
    "documents": answer_object(total=COUNT, written=COUNT),
    "size": or_null(COUNT, "Bytes of the file; null unless it is ready."),
    "sha256": or_null(TEXT, "Of the file; null unless it is ready."),
    "error": or_null(TEXT, "Why it could not be made; null unless it failed."),
}

ARCHIVE_SCHEMAS: dict[str, Schema] = {
    "Archive": answer_object(**_ARCHIVE),
    "ArchiveList": answer_object(archives={"type": "array", "items": reference("Archive")}),
}
