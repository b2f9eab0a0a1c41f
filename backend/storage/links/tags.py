"""The `tags` collection: the tags that an organization gives to its links.

A link holds ids of tags (`tag_ids`), so one write renames or deletes a tag on all links. The id of a deleted
tag stays in links until their tags are changed, and is ignored. The feed notes the name of each id.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.errors import InvalidField
from backend.domain.feed.facts import Fact, tag_fact
from backend.domain.fields.item_names import name_key
from backend.domain.ids import LinkId, OrgId, TagId
from backend.domain.links.links import Link
from backend.domain.links.tags import MOST_TAGS, Tag, default_color
from backend.storage.accounts.domains import list_domains
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.links import links
from backend.storage.links.named_items import NamedItems, items_collection
from backend.storage.outbox import entries

NAME = "tags"
COLLECTION = items_collection(NAME, "tag")
_TAGS = NamedItems(NAME, Tag, MOST_TAGS)
NamedT = TypeVar("NamedT", bound=str)


async def create_tag(database: Database, org_id: OrgId, name: str, color: str | None, now: datetime) -> Tag:
    """Store a new tag, with a colour of its name if none is given. Raises NameTaken and TooManyItems."""
    created_at = now.replace(microsecond=0)
    tag = Tag(TagId(str(uuid.uuid4())), org_id, name, color or default_color(name), created_at)

    async def work(session: ClientSession) -> None:
        await _TAGS.add(database, tag, session)
        await _note(database, session, org_id, tag_fact(tag.id, tag.name))

    await in_transaction(database, work)
    return tag


def to_document(tag: Tag) -> Document:
    """The tag as it is stored."""
    return _TAGS.to_document(tag)


async def list_tags(database: Database, org_id: OrgId, session: ClientSession | None = None) -> list[Tag]:
    """All tags of the organization, by name."""
    return await _TAGS.all_of(database, org_id, session)


async def find_tag_by_id(database: Database, org_id: OrgId, tag_id: TagId) -> Tag | None:
    """The organization's tag with this id; None if it has none."""
    return next(iter(await _TAGS.with_ids(database, org_id, [tag_id])), None)


async def change_tag(
    database: Database, org_id: OrgId, name: str, *, new_name: str | None = None, color: str | None = None
) -> Tag:
    """Give the tag another name or colour, on all links at once. Raises ItemUnknown and NameTaken."""
    changes = {"name": new_name, "color": color}
    new_values = {field: value for field, value in changes.items() if value is not None}

    async def work(session: ClientSession) -> Tag:
        changed = await _TAGS.change(database, org_id, name, new_values, session=session)
        if new_name is not None:
            await _note(database, session, org_id, tag_fact(changed.id, changed.name))
        return changed

    return await in_transaction(database, work)


async def delete_tag(database: Database, org_id: OrgId, name: str) -> None:
    """Delete the tag, which takes it off all links at once. Raises ItemUnknown."""

    async def work(session: ClientSession) -> None:
        deleted = await _TAGS.delete(database, org_id, name, session)
        await _note(database, session, org_id, tag_fact(deleted.id, None))

    await in_transaction(database, work)


async def _note(database: Database, session: ClientSession, org_id: OrgId, fact: Fact) -> None:
    await entries.note(database, session, {org_id: [fact]})


async def find_tag_ids(
    database: Database,
    session: ClientSession | None,
    org_id: OrgId,
    names: Iterable[str],
    ids: Iterable[TagId] = (),
) -> dict[str, TagId]:
    """The ids of the organization's tags with these names or ids, by the keys of the tags' names."""
    conditions = [
        {"key": {"$in": list({name_key(name) for name in names})}},
        {"_id": {"$in": list(set(ids))}},
    ]
    query = {"org_id": org_id, "$or": conditions}
    cursor = database[NAME].find(query, {"key": 1}, session=session)
    return {document["key"]: document["_id"] async for document in cursor}


async def current_reach(database: Database, org_id: OrgId, reach: LinkReach) -> LinkReach:
    """The reach with those of its tags that there are: links keep the ids of tags that were deleted."""
    if reach.tags is None:
        return reach
    tags = await _TAGS.with_ids(database, org_id, list(reach.tags))
    return replace(reach, tags=tuple(tag.id for tag in tags))


async def find_reach(database: Database, org_id: OrgId, names: Mapping[str, Sequence[str]]) -> LinkReach:
    """The reach of these names by kind, as LimitedTo has them. Raises InvalidField for what is not there."""
    ids = await find_tag_ids(database, None, org_id, names.get("tags", ()))
    tags = {name: ids[name_key(name)] for name in names.get("tags", ()) if name_key(name) in ids}
    domains = {name: name for name in await list_domains(database, org_id)}
    found = await links.find_links(database, map(LinkId, names.get("links", ())), org_id)
    return LinkReach(
        tags=_found("tags", names, tags),
        domains=_found("domains", names, domains),
        links=_found("links", names, {str(link_id): link_id for link_id in found}),
    )


def _found(
    kind: str, names: Mapping[str, Sequence[str]], there: Mapping[str, NamedT]
) -> tuple[NamedT, ...] | None:
    if kind not in names:
        return None
    for name in names[kind]:
        if name not in there:
            raise InvalidField(
                f"limited_to.{kind}", f"must be the organization's, and this one is not: {name}"
            )
    return tuple(dict.fromkeys(there[name] for name in names[kind]))


async def find_tag_names(
    database: Database, org_id: OrgId, reaches: Iterable[LinkReach | None]
) -> dict[TagId, str]:
    """The names of the tags that these reaches name, without those that are gone."""
    ids = {tag_id for reach in reaches if reach for tag_id in reach.tags or ()}
    return {tag.id: tag.name for tag in await _TAGS.with_ids(database, org_id, list(ids))} if ids else {}


async def find_tags_of(
    database: Database, tagged_links: Iterable[Link], session: ClientSession | None = None
) -> dict[TagId, Tag]:
    """The tags of these links, by id, as they are now. Links may be of several organizations."""
    ids: dict[OrgId, set[str]] = {}
    for link in tagged_links:
        if link.tag_ids:
            ids.setdefault(link.org_id, set()).update(link.tag_ids)
    return {
        tag.id: tag
        for org_id, tag_ids in ids.items()
        for tag in await _TAGS.with_ids(database, org_id, list(tag_ids), session)
    }


async def count_tagged_links(
    database: Database, org_id: OrgId, reach: LinkReach | None = None
) -> dict[TagId, int]:
    """How many links within reach have each tag, without archived ones. It reads each link that has one."""
    tagged = links.TAGGED | {"org_id": org_id, "archived_at": None}
    stages: list[Document] = [
        {"$match": {"$and": [tagged, links.reached(reach)]} if reach else tagged},
        {"$project": {"tag_ids": 1}},
        {"$unwind": "$tag_ids"},
        {"$group": {"_id": "$tag_ids", "links": {"$sum": 1}}},
    ]
    return {count["_id"]: count["links"] async for count in database[links.NAME].aggregate(stages)}
