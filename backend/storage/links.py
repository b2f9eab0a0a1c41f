"""The `links` collection. Every query for an organization includes the organization's id."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from pymongo import DESCENDING, IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.ids import LinkId, OrgId
from backend.domain.link_input import Changes
from backend.domain.links import (
    FALLBACK_FIELDS,
    SOCIAL_FIELDS,
    UTM_FIELDS,
    Behavior,
    CreatedBy,
    ImportedClicks,
    Link,
)
from backend.domain.short_urls import parse_short_url
from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.mongo import ClientSession, Database, known_fields
from backend.storage.ownership import ByField

NAME = "links"
_GROUPS = {"utm": UTM_FIELDS, "social": SOCIAL_FIELDS, "fallbacks": FALLBACK_FIELDS}
NEWEST_FIRST = [("created_at", DESCENDING), ("_id", DESCENDING)]
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("domain", 1), ("path", 1)], unique=True),
        IndexModel([("domain", 1), ("ios_behavior", 1), ("is_enabled", 1), *NEWEST_FIRST]),
        IndexModel([("org_id", 1), *NEWEST_FIRST]),
        IndexModel([("org_id", 1), ("created_by", 1), *NEWEST_FIRST]),
    ],
    owned_by=ByField(),
    personal=NotPersonal("the organization made it, and its own people delete it"),
    retention=NoRetention("the organization made it, and its own people delete it"),
)


class PathTaken(ValueError):
    """Another link already has this path on the domain."""


async def insert_link(database: Database, link: Link, session: ClientSession | None = None) -> None:
    """Store a new link. Raises PathTaken if another link has its domain and path."""
    try:
        await database[NAME].insert_one(to_document(link), session=session)
    except DuplicateKeyError:
        raise PathTaken(link.path) from None


async def insert_links(database: Database, links: Iterable[Link]) -> None:
    """Store many new links at once. Their paths must be free."""
    await database[NAME].insert_many(map(to_document, links), ordered=False)


async def find_link(database: Database, link_id: LinkId, org_id: OrgId) -> Link | None:
    """The organization's link with this id; None if it has none."""
    return _from_found(await database[NAME].find_one({"_id": link_id, "org_id": org_id}))


async def find_links(database: Database, link_ids: Iterable[LinkId], org_id: OrgId) -> dict[str, Link]:
    """Those of these links that belong to the organization, by id."""
    cursor = database[NAME].find({"_id": {"$in": list(link_ids)}, "org_id": org_id})
    return {found["_id"]: from_document(found) async for found in cursor}


async def find_link_at(database: Database, domain: str, path: str, org_id: OrgId) -> Link | None:
    """The organization's link with this domain and path; None if it has none."""
    return _from_found(await database[NAME].find_one({"domain": domain, "path": path, "org_id": org_id}))


async def resolve_link(database: Database, domain: str, path: str) -> Link | None:
    """The link that a visitor asks for, of any organization; None if there is none."""
    return _from_found(await database[NAME].find_one({"domain": domain, "path": path}))


async def taken_paths(database: Database, domain: str, paths: Iterable[str]) -> set[str]:
    """Those of these paths that a link on the domain has, of any organization."""
    cursor = database[NAME].find({"domain": domain, "path": {"$in": list(paths)}}, {"path": 1, "_id": 0})
    return {document["path"] async for document in cursor}


async def change_link(
    database: Database, link_id: LinkId, org_id: OrgId, changes: Changes, now: datetime
) -> bool:
    """Set fields of the organization's link, and its modification time. False if it has no such link."""
    update = _update_of(changes | {"modified_at": now})
    return (await database[NAME].update_one({"_id": link_id, "org_id": org_id}, update)).matched_count == 1


async def list_app_paths(database: Database, domain: str, limit: int) -> list[str]:
    """Paths of a domain's enabled links that open in the iOS app, newest first, at most `limit`."""
    app_links = {"domain": domain, "is_enabled": True, "ios_behavior": Behavior.APP.value}
    cursor = database[NAME].find(app_links, {"path": 1}).sort(NEWEST_FIRST).limit(limit)
    return [document["path"] for document in await cursor.to_list(limit)]


async def list_browser_paths(database: Database, domain: str, limit: int) -> list[str]:
    """Paths of a domain's links that must not open in the iOS app, newest first, at most `limit`.

    These are links that open in the browser, and disabled ones.
    """
    in_browser = {"domain": domain, "ios_behavior": Behavior.BROWSER.value}
    disabled = {"domain": domain, "ios_behavior": Behavior.APP.value, "is_enabled": False}
    cursor = database[NAME].find({"$or": [in_browser, disabled]}, {"path": 1}).limit(limit)
    return [document["path"] for document in await cursor.to_list(limit)]


async def count_links(database: Database, org_id: OrgId, created_by: CreatedBy | None = None) -> int:
    """How many links the organization has, also disabled ones; with `created_by`, by that kind of key."""
    return int(await database[NAME].count_documents(_owned(org_id, created_by)))


async def count_links_on(database: Database, domain: str, org_id: OrgId) -> int:
    """How many links the organization has on a domain."""
    return int(await database[NAME].count_documents({"domain": domain, "org_id": org_id}))


async def list_links(
    database: Database, org_id: OrgId, *, skip: int, limit: int, created_by: CreatedBy | None = None
) -> list[Link]:
    """The organization's links, newest first: at most `limit`, after the first `skip`."""
    cursor = database[NAME].find(_owned(org_id, created_by)).sort(NEWEST_FIRST).skip(skip).limit(limit)
    return [from_document(document) async for document in cursor]


async def search_links(database: Database, org_id: OrgId, text: str, *, skip: int, limit: int) -> list[Link]:
    """The organization's links with this text in name, path or destination, newest first.

    At most `limit` links, after the first `skip`. A complete short URL finds its link too. Reads the
    organization's links one by one until it has enough, so the caller should set a `deadline`.
    """
    if "\x00" in text:
        return []  # no link contains it, and MongoDB can't search for it
    cursor = database[NAME].find(with_text(org_id, text)).sort(NEWEST_FIRST).skip(skip).limit(limit)
    return [from_document(document) async for document in cursor]


def with_text(org_id: OrgId, text: str) -> dict[str, Any]:
    """The query of `search_links`."""
    part = {"$regex": re.escape(text), "$options": "i"}
    places: list[dict[str, Any]] = [{name: part} for name in ("link_name", "path", "destination_url")]
    short_url = parse_short_url(text)
    if short_url:
        places.append({"domain": short_url[0], "path": short_url[1]})
    return {"org_id": org_id, "$or": places}


def _update_of(changes: Changes) -> dict[str, dict[str, Any]]:
    """The MongoDB update that sets these fields. A field that is None is removed."""
    cleared = {"ios_behavior": Behavior.BROWSER.value, "android_behavior": Behavior.BROWSER.value}
    stored = {
        _stored_name(name): cleared.get(name) if value is None else value for name, value in changes.items()
    }
    unset = {name: "" for name, value in stored.items() if value is None and "." in name}
    kept = {name: value for name, value in stored.items() if name not in unset}
    return {"$set": kept} | ({"$unset": unset} if unset else {})


def _stored_name(field: str) -> str:
    """The name in a stored document of a field of the contract."""
    return next((f"{group}.{field}" for group, names in _GROUPS.items() if field in names), field)


def _owned(org_id: OrgId, created_by: CreatedBy | None) -> dict[str, str]:
    return {"org_id": org_id} | ({"created_by": created_by.value} if created_by else {})


def to_document(link: Link) -> dict[str, Any]:
    """The stored form of a link."""
    document = asdict(link)
    if link.imported_clicks is None:
        del document["imported_clicks"]
    return {"_id": document.pop("id"), **document}


def _from_found(document: dict[str, Any] | None) -> Link | None:
    return from_document(document) if document else None


def from_document(document: dict[str, Any]) -> Link:
    """The link in a stored document."""
    values = known_fields(document, Link)
    values["ios_behavior"] = Behavior(values["ios_behavior"])
    values["android_behavior"] = Behavior(values["android_behavior"])
    values["created_by"] = CreatedBy(values["created_by"])
    if (clicks := values.get("imported_clicks")) is not None:
        values["imported_clicks"] = ImportedClicks(**known_fields(clicks, ImportedClicks))
    return Link(id=document["_id"], **values)
