"""The `tags` collection: the tags that an organization gives to its links.

A link holds ids of tags (`tag_ids`). So a tag is renamed by one write, and deleted by one: from that moment
it is on no link any more. Its id stays in links until their tags are changed, and stands for nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime
from typing import Any

from pymongo import IndexModel, ReturnDocument
from pymongo.errors import DuplicateKeyError

from backend.domain.ids import OrgId, TagId
from backend.domain.links import Link
from backend.domain.tags import (
    MOST_TAGS,
    Tag,
    TagTaken,
    TagUnknown,
    TooManyTags,
    default_color,
    tag_key,
)
from backend.storage import links
from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.mongo import ClientSession, Database, Document, known_fields
from backend.storage.ownership import ByField

NAME = "tags"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("key", 1)], unique=True)],
    owned_by=ByField(),
    personal=NotPersonal("the organization made it, and its own people delete it"),
    retention=NoRetention("the organization made it, and its own people delete it"),
)


async def create_tag(database: Database, org_id: OrgId, name: str, color: str | None, now: datetime) -> Tag:
    """Store a new tag, with a colour of its name if none is given. Raises TagTaken and TooManyTags."""
    if await database[NAME].count_documents({"org_id": org_id}, limit=MOST_TAGS) >= MOST_TAGS:
        raise TooManyTags
    made = now.replace(microsecond=0)
    tag = Tag(TagId(str(uuid.uuid4())), org_id, name, color or default_color(name), made)
    try:
        await database[NAME].insert_one(to_document(tag))
    except DuplicateKeyError:
        raise TagTaken(name) from None
    return tag


async def list_tags(database: Database, org_id: OrgId, session: ClientSession | None = None) -> list[Tag]:
    """All tags of the organization, by name."""
    cursor = database[NAME].find({"org_id": org_id}, session=session).sort("key", 1)
    return [_from_document(found) async for found in cursor]


async def find_tag(database: Database, org_id: OrgId, name: str) -> Tag:
    """The organization's tag of this name, in any case. Raises TagUnknown."""
    found = await database[NAME].find_one({"org_id": org_id, "key": tag_key(name)})
    if found is None:
        raise TagUnknown(name)
    return _from_document(found)


async def change_tag(
    database: Database, org_id: OrgId, name: str, *, new_name: str | None = None, color: str | None = None
) -> Tag:
    """Give the tag another name or colour, on all links at once. Raises TagUnknown and TagTaken."""
    changes = {} if new_name is None else {"name": new_name, "key": tag_key(new_name)}
    changes |= {} if color is None else {"color": color}
    if not changes:
        return await find_tag(database, org_id, name)
    try:
        found = await database[NAME].find_one_and_update(
            {"org_id": org_id, "key": tag_key(name)},
            {"$set": changes},
            return_document=ReturnDocument.AFTER,
        )
    except DuplicateKeyError:
        raise TagTaken(new_name) from None
    if found is None:
        raise TagUnknown(name)
    return _from_document(found)


async def delete_tag(database: Database, org_id: OrgId, name: str) -> None:
    """Delete the tag, which takes it off all links at once. Raises TagUnknown."""
    deleted = await database[NAME].delete_one({"org_id": org_id, "key": tag_key(name)})
    if not deleted.deleted_count:
        raise TagUnknown(name)


async def find_tag_ids(
    database: Database, session: ClientSession | None, org_ids: Iterable[OrgId]
) -> dict[OrgId, dict[str, TagId]]:
    """The ids of all tags of these organizations, by the keys of their names."""
    ids: dict[OrgId, dict[str, TagId]] = {org_id: {} for org_id in org_ids}
    if ids:
        wanted = {"org_id": {"$in": list(ids)}}
        async for found in database[NAME].find(wanted, {"org_id": 1, "key": 1}, session=session):
            ids[found["org_id"]][found["key"]] = found["_id"]
    return ids


async def find_tags_of(database: Database, some: Iterable[Link]) -> dict[TagId, Tag]:
    """The tags of these links, by id, as they are now. Each link has only its organization's."""
    ids: dict[OrgId, set[TagId]] = {}
    for link in some:
        if link.tag_ids:
            ids.setdefault(link.org_id, set()).update(link.tag_ids)
    found: dict[TagId, Tag] = {}
    for org_id, wanted in ids.items():
        async for each in database[NAME].find({"_id": {"$in": list(wanted)}, "org_id": org_id}):
            found[each["_id"]] = _from_document(each)
    return found


async def count_tagged_links(database: Database, org_id: OrgId) -> dict[TagId, int]:
    """How many links have each tag, without archived ones. It reads each link that has one."""
    tagged = links.TAGGED | {"org_id": org_id, "archived_at": None}
    stages: list[Document] = [
        {"$match": tagged},
        {"$project": {"tag_ids": 1}},
        {"$unwind": "$tag_ids"},
        {"$group": {"_id": "$tag_ids", "links": {"$sum": 1}}},
    ]
    return {each["_id"]: each["links"] async for each in database[links.NAME].aggregate(stages)}


def to_document(tag: Tag) -> dict[str, Any]:
    """The stored form of a tag."""
    values = {item.name: getattr(tag, item.name) for item in fields(Tag) if item.name != "id"}
    return {"_id": tag.id, **values, "key": tag_key(tag.name)}


def _from_document(document: Document) -> Tag:
    return Tag(id=document["_id"], **known_fields(document, Tag))
