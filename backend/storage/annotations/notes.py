"""The `annotations` collection: notes of organizations at days and times, some of them of a link."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from pymongo import IndexModel

from backend.domain.annotations.annotation import (
    MOST_ANNOTATIONS,
    Annotation,
    NotedBy,
    NotedTime,
)
from backend.domain.errors import InvalidField
from backend.domain.ids import AnnotationId, LinkId, OrgId
from backend.storage.driver.mongo import Database, Document, known_fields
from backend.storage.links.links import find_link
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.own_documents import OwnDocuments
from backend.storage.schema.ownership import ByField

NAME = "annotations"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("at", 1)])],
    owned_by=ByField(),
    personal=NotPersonal("the organization's own people wrote it about what they did"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("an organization has few"),
    audited=Audited(kind="note", name="text"),
)
_ANNOTATIONS = OwnDocuments(NAME, MOST_ANNOTATIONS, "text", "notes")
# The largest difference between the time of a zone and UTC, and a little more.
_LARGEST_OFFSET = timedelta(hours=15)


async def add_annotation(
    database: Database, org_id: OrgId, fields: Mapping[str, Any], created_by: NotedBy, now: datetime
) -> Annotation:
    """Store a new annotation of these fields, parsed by ANNOTATION_FIELDS.

    Raises InvalidField if the organization has no link of that id, or as many as it may have.
    """
    await _check_link(database, org_id, fields)
    await _ANNOTATIONS.check_room(database, org_id)
    document = {
        "_id": str(uuid.uuid4()),
        "org_id": org_id,
        "created_at": now,
        "created_by": created_by.value,
        "link_id": None,
        **_stored(fields),
    }
    await database[NAME].insert_one(document)
    return from_document(document)


async def list_annotations(
    database: Database,
    org_id: OrgId,
    start: datetime | None = None,
    end: datetime | None = None,
    link_id: LinkId | None = None,
) -> list[Annotation]:
    """The organization's annotations from `start` up to, but not including, `end`, the oldest first.

    With `link_id`, only those of this link.
    """
    query: Document = {"org_id": org_id} | ({"link_id": link_id} if link_id else {})
    if start or end:
        query["at"] = ({"$gte": start} if start else {}) | ({"$lt": end} if end else {})
    cursor = database[NAME].find(query).sort([("at", 1), ("created_at", 1), ("_id", 1)])
    return [from_document(document) async for document in cursor]


async def list_around(database: Database, org_id: OrgId, start: datetime, end: datetime) -> list[Annotation]:
    """As `list_annotations`, with those of all days that are between these times in any time zone."""
    return await list_annotations(database, org_id, start - _LARGEST_OFFSET, end + _LARGEST_OFFSET)


async def get_annotation(database: Database, org_id: OrgId, given_id: str) -> Annotation:
    """The organization's annotation with this id. Raises ItemUnknown."""
    return from_document(await _ANNOTATIONS.get(database, org_id, given_id))


async def change_annotation(
    database: Database, org_id: OrgId, given_id: str, changes: Mapping[str, Any]
) -> Annotation:
    """Change these fields, given as those of `add_annotation`. Raises InvalidField and ItemUnknown."""
    await _check_link(database, org_id, changes)
    return from_document(await _ANNOTATIONS.change(database, org_id, given_id, _stored(changes)))


async def delete_annotation(database: Database, org_id: OrgId, given_id: str) -> None:
    """Delete the annotation. Raises ItemUnknown."""
    await _ANNOTATIONS.delete(database, org_id, given_id)


async def delete_annotations_of_link(database: Database, org_id: OrgId, link_id: LinkId) -> None:
    """Delete the annotations of a link that is deleted for good."""
    await database[NAME].delete_many({"org_id": org_id, "link_id": link_id})


def from_document(document: Document) -> Annotation:
    """The annotation that is stored."""
    values = known_fields(document, Annotation) | {"created_by": NotedBy(document["created_by"])}
    return Annotation(id=AnnotationId(document["_id"]), **values)


async def _check_link(database: Database, org_id: OrgId, fields: Mapping[str, Any]) -> None:
    link_id = fields.get("link_id")
    if link_id is not None and await find_link(database, link_id, org_id) is None:
        raise InvalidField("link_id", "must be a link of your organization")


def _stored(fields: Mapping[str, Any]) -> Document:
    """These fields as they are stored."""
    at = fields.get("at")
    return {**fields, **(asdict(at) if isinstance(at, NotedTime) else {})}
