"""The `links` collection. Every query for an organization includes the organization's id."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from dataclasses import asdict, fields
from operator import attrgetter
from typing import Any

from pymongo import DESCENDING, IndexModel, UpdateOne
from pymongo.collation import Collation

from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.input import is_same
from backend.domain.links.limits import NO_LIMITS, LinkLimits
from backend.domain.links.links import Behavior, CreatedBy, Hold, ImportedClicks, Link, QueryPrecedence
from backend.domain.links.loose_paths import LoosePath
from backend.domain.web.short_urls import ShortUrlForm, parse_short_url
from backend.storage.driver.mongo import ClientSession, Database, Document, known_fields
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ByField

NAME = "links"
_MOST_ALIKE = 50  # links whose paths have the same letters: two are too many already
_STORED = [item.name for item in fields(Link) if item.name not in {"id", "imported_clicks", "limits", "hold"}]
_stored_of = attrgetter(*_STORED)
ARCHIVED = {"archived_at": {"$type": "date"}}
# Not by type: then no query for a tag would use the index.
TAGGED = {"tag_ids": {"$gt": ""}}
HELD = {"hold.at": {"$type": "date"}}
# The queries for links that stay in the browser (`LinkLimits.stays_in_browser`).
STAYS_IN_BROWSER = ({"limits.max_clicks": {"$gt": 0}}, {"limits.password_hash": {"$gt": ""}})
NEWEST_FIRST = [("created_at", DESCENDING), ("_id", DESCENDING)]
# Compares letters and not their case.
ANY_CASE = Collation(locale="en", strength=2)
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("domain", 1), ("path", 1)], unique=True),
        IndexModel([("domain", 1), ("path", 1)], name="path_in_any_case", collation=ANY_CASE),
        *(
            IndexModel([("domain", 1), (behavior, 1), ("is_enabled", 1), *NEWEST_FIRST])
            for behavior in ("ios_behavior", "android_behavior")
        ),
        IndexModel([("org_id", 1), *NEWEST_FIRST]),
        IndexModel([("org_id", 1), ("created_by", 1), *NEWEST_FIRST]),
        IndexModel([("org_id", 1), ("modified_at", 1), ("_id", 1)]),
        IndexModel([("org_id", 1), ("link_name", 1), ("_id", 1)]),
        IndexModel(
            [("org_id", 1), ("external_id", 1)],
            unique=True,
            # Not by type: then no query for a value would use it.
            partialFilterExpression={"external_id": {"$gt": ""}},
        ),
        IndexModel([("org_id", 1), ("archived_at", 1)], partialFilterExpression=ARCHIVED),
        IndexModel([("org_id", 1), ("tag_ids", 1), *NEWEST_FIRST], partialFilterExpression=TAGGED),
        IndexModel([("hold.at", 1)], partialFilterExpression=HELD),
        IndexModel(
            [("org_id", 1), ("limits.expires_at", 1)],
            partialFilterExpression={"limits.expires_at": {"$exists": True}},
        ),
        *(
            IndexModel([("domain", 1), (name, 1)], partialFilterExpression=limit)
            for limit in STAYS_IN_BROWSER
            for name in limit
        ),
    ],
    owned_by=ByField(),
    personal=NotPersonal("the organization made it, and its own people delete it"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("path and external id are both unique, and no key begins both"),
    audited=NotAudited("storage/links/writing records it, many at once"),
)


async def find_link(database: Database, link_id: LinkId, org_id: OrgId) -> Link | None:
    """The organization's link with this id; None if it has none."""
    return _from_optional(await database[NAME].find_one({"_id": link_id, "org_id": org_id}))


async def find_link_of_any(database: Database, link_id: LinkId) -> Link | None:
    """The link with this id, of any organization, for the service's operator; None if there is none."""
    return _from_optional(await database[NAME].find_one({"_id": link_id}))


async def find_links(database: Database, link_ids: Iterable[LinkId], org_id: OrgId) -> dict[LinkId, Link]:
    """The organization's links with these ids, by id."""
    ids = list(link_ids)
    if not ids:
        return {}
    cursor = database[NAME].find({"_id": {"$in": ids}, "org_id": org_id})
    return {document["_id"]: from_document(document) async for document in cursor}


async def find_short_urls(
    database: Database,
    org_id: OrgId,
    link_ids: Iterable[LinkId],
    form: ShortUrlForm,
    session: ClientSession | None = None,
) -> dict[LinkId, str]:
    """The short URLs of the organization's links with these ids, by id."""
    query = {"_id": {"$in": list(link_ids)}, "org_id": org_id}
    cursor = database[NAME].find(query, {"domain": 1, "path": 1}, session=session)
    return {document["_id"]: form.write(document["domain"], document["path"]) async for document in cursor}


async def find_links_beginning(
    database: Database, beginnings: Iterable[str], org_id: OrgId
) -> dict[str, list[Link]]:
    """The organization's links by the beginnings of their ids, up to the first hyphen."""
    links_by_beginning: dict[str, list[Link]] = {}
    if patterns := [re.compile(f"^{re.escape(beginning)}-") for beginning in beginnings]:
        # An organization may have millions of links, of which the other indexes would read all.
        cursor = database[NAME].find({"_id": {"$in": patterns}, "org_id": org_id}).hint("_id_")
        async for document in cursor:
            link = from_document(document)
            links_by_beginning.setdefault(link.id.partition("-")[0], []).append(link)
    return links_by_beginning


async def find_link_by_external_id(database: Database, external_id: str, org_id: OrgId) -> Link | None:
    """The organization's link with this external id; None if it has none."""
    return _from_optional(await database[NAME].find_one({"org_id": org_id, "external_id": external_id}))


async def find_link_at(database: Database, domain: str, path: str, org_id: OrgId) -> Link | None:
    """The organization's link with this domain and path; None if it has none."""
    return _from_optional(await database[NAME].find_one({"domain": domain, "path": path, "org_id": org_id}))


async def resolve_link(
    database: Database, domain: str, path: str, session: ClientSession | None = None
) -> Link | None:
    """The link that a visitor asks for, of any organization; None if there is none."""
    return _from_optional(await database[NAME].find_one({"domain": domain, "path": path}, session=session))


async def resolve_links(
    database: Database, places: Iterable[tuple[str, str]], session: ClientSession | None = None
) -> dict[tuple[str, str], Link]:
    """The links at these domains and paths, of any organization, by both."""
    paths: defaultdict[str, list[str]] = defaultdict(list)
    for domain, path in places:
        paths[domain].append(path)
    if not paths:
        return {}
    at_places = [{"domain": domain, "path": {"$in": paths_there}} for domain, paths_there in paths.items()]
    found = await find_all(database, session, {"$or": at_places})
    return {(link.domain, link.path): link for link in found}


async def find_alike(database: Database, places: Set[tuple[str, str]]) -> list[Link]:
    """The links whose paths on these domains have the letters of one of these paths, in any case."""
    if not places:
        return []
    at_places = [{"domain": domain, "path": path} for domain, path in places]
    cursor = database[NAME].find({"$or": at_places}, collation=ANY_CASE).limit(_MOST_ALIKE * len(places))
    return [from_document(document) async for document in cursor]


async def find_forwarding_path(database: Database, domain: str, paths: Iterable[str]) -> str | None:
    """The longest of these paths at which the domain has a link that passes on what follows its path."""
    query = {"domain": domain, "path": {"$in": list(paths)}, "forwards_path": True}
    found = [document["path"] async for document in database[NAME].find(query, {"path": 1, "_id": 0})]
    return max(found, key=len, default=None)


async def find_forwarding_path_in_any_case(
    database: Database, domain: str, paths: Sequence[str]
) -> str | None:
    """The same for paths in other case, the longest first: that of the only link with such letters."""
    query = {"domain": domain, "path": {"$in": list(paths)}}
    shown = {"path": 1, "forwards_path": 1, "_id": 0}
    cursor = database[NAME].find(query, shown, collation=ANY_CASE).limit(_MOST_ALIKE)
    alike: defaultdict[str, list[Document]] = defaultdict(list)
    async for document in cursor:
        alike[document["path"].lower()].append(document)
    for path in paths:
        found = alike[path.lower()]
        if any(document.get("forwards_path") for document in found):
            return found[0]["path"] if len(found) == 1 else None
    return None


async def find_loose_path(
    database: Database, domain: str, loose: LoosePath, *, ignores_case: bool
) -> str | None:
    """The path of the domain's link that is meant by what was asked for, where no link has the path itself.

    None if there is none, or if several may be meant.
    """
    if not loose.paths:
        return None
    query = {"domain": domain, "path": {"$in": list(loose.paths)}}
    found = [document["path"] async for document in database[NAME].find(query, {"path": 1, "_id": 0})]
    if not found and ignores_case:
        in_any_case = database[NAME].find(query, {"path": 1, "_id": 0}, collation=ANY_CASE).limit(_MOST_ALIKE)
        found = [document["path"] async for document in in_any_case]
    return loose.pick(found, ignores_case=ignores_case)


async def find_paths_below(database: Database, domain: str, path: str, most: int) -> set[str] | None:
    """The paths of all links below this path, such as `a/b` below `a`; None if there are more than `most`."""
    query = {"domain": domain, "path": {"$gt": f"{path}/", "$lt": f"{path}0"}}  # in ASCII, 0 follows /
    cursor = database[NAME].find(query, {"path": 1, "_id": 0}).limit(most + 1)
    found = {document["path"] async for document in cursor}
    return found if len(found) <= most else None


async def taken_paths(database: Database, domain: str, paths: Iterable[str]) -> set[str]:
    """The paths among these that a link on the domain has, of any organization."""
    cursor = database[NAME].find({"domain": domain, "path": {"$in": list(paths)}}, {"path": 1, "_id": 0})
    return {document["path"] async for document in cursor}


async def find_all(database: Database, session: ClientSession | None, query: Document) -> list[Link]:
    """All links that match this query, in the caller's transaction."""
    return [from_document(document) async for document in database[NAME].find(query, session=session)]


def update(stored: Link, changed: Link) -> UpdateOne:
    """The write that makes the stored link the changed one. Fields that this version lacks stay."""
    before, after = to_document(stored), to_document(changed)
    different = {name: value for name, value in after.items() if not is_same(value, before[name])}
    return UpdateOne({"_id": stored.id, "org_id": stored.org_id}, {"$set": different})


async def count_links(
    database: Database, org_id: OrgId, created_by: CreatedBy | None = None, reach: LinkReach | None = None
) -> int:
    """How many links the organization has within reach, without archived ones.

    With `created_by`, of that kind of key.
    """
    # Two counts by indexes: to look into each link whether it is archived would take much longer.
    all_links = int(await database[NAME].count_documents(_owned(org_id, created_by, reach)))
    return all_links - await count_archived(database, org_id, created_by, reach)


async def count_archived(
    database: Database, org_id: OrgId, created_by: CreatedBy | None = None, reach: LinkReach | None = None
) -> int:
    """How many archived links the organization has within reach; with `created_by`, of that kind of key."""
    archived = _owned(org_id, created_by, reach) | ARCHIVED
    return int(await database[NAME].count_documents(archived))


async def count_links_on(
    database: Database, domain: str, org_id: OrgId, session: ClientSession | None = None
) -> int:
    """How many links the organization has on a domain."""
    return int(await database[NAME].count_documents({"domain": domain, "org_id": org_id}, session=session))


async def count_archived_on(database: Database, domain: str, org_id: OrgId) -> int:
    """How many archived links the organization has on a domain."""
    return int(await database[NAME].count_documents({"domain": domain, "org_id": org_id} | ARCHIVED))


async def list_links(
    database: Database,
    org_id: OrgId,
    *,
    skip: int,
    limit: int,
    created_by: CreatedBy | None = None,
    reach: LinkReach | None = None,
) -> list[Link]:
    """The organization's links within reach, newest first, without archived ones.

    At most `limit`, after `skip` others.
    """
    query = _owned(org_id, created_by, reach) | {"archived_at": None}
    cursor = database[NAME].find(query).sort(NEWEST_FIRST).skip(skip).limit(limit)
    return [from_document(document) async for document in cursor]


def with_text(org_id: OrgId, text: str) -> dict[str, Any]:
    """The query for links with this text in name, path or destination, or with this short URL.

    It reads the organization's links one by one, so whoever runs it should set a `deadline`.
    """
    part = {"$regex": re.escape(text), "$options": "i"}
    places: list[dict[str, Any]] = [{name: part} for name in ("link_name", "path", "destination_url")]
    short_url = parse_short_url(text)
    if short_url:
        places.append({"domain": short_url[0], "path": short_url[1]})
    return {"org_id": org_id, "$or": places}


def reached(reach: LinkReach | None) -> Document:
    """The query for links within reach. The tags of `reach` must be those that there are."""
    if reach is None:
        return {}
    by_field = {"tag_ids": reach.tags, "domain": reach.domains, "_id": reach.links}
    named = {field: {"$in": list(names)} for field, names in by_field.items() if names is not None}
    return named or {"_id": {"$in": []}}


def _owned(org_id: OrgId, created_by: CreatedBy | None, reach: LinkReach | None) -> Document:
    return {"org_id": org_id, **({"created_by": created_by.value} if created_by else {}), **reached(reach)}


def to_document(link: Link) -> dict[str, Any]:
    """The stored form of a link. It shares the link's parts: neither may be changed."""
    # Not asdict: its deep copy took longer than everything else for a new link.
    document = {"_id": link.id, **dict(zip(_STORED, _stored_of(link), strict=True))}
    document["limits"] = link.limits.by_name
    if link.imported_clicks:
        document["imported_clicks"] = asdict(link.imported_clicks)
    if link.hold:
        document["hold"] = asdict(link.hold)
    return document


def _from_optional(document: dict[str, Any] | None) -> Link | None:
    return from_document(document) if document else None


def from_document(document: dict[str, Any]) -> Link:
    """The link in a stored document."""
    values = known_fields(document, Link)
    values["ios_behavior"] = Behavior(values["ios_behavior"])
    values["android_behavior"] = Behavior(values["android_behavior"])
    values["created_by"] = CreatedBy(values["created_by"])
    if precedence := values.get("query_precedence"):
        values["query_precedence"] = QueryPrecedence(precedence)
    if (clicks := values.get("imported_clicks")) is not None:
        values["imported_clicks"] = ImportedClicks(**known_fields(clicks, ImportedClicks))
    limits = values.get("limits")
    values["limits"] = LinkLimits(**known_fields(limits, LinkLimits)) if limits else NO_LIMITS
    if (hold := values.get("hold")) is not None:
        values["hold"] = Hold(**known_fields(hold, Hold))
    return Link(id=document["_id"], **values)
