"""Links and tags that follow from a feed, beside those that are stored."""

from __future__ import annotations

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, Document
from backend.storage.outbox import entries
from tests.facts.feeds import place_all


async def replayed(database: Database, org_id: OrgId) -> tuple[dict[str, Document], dict[str, str]]:
    """The links, and the names of tags, that follow from the facts in their order."""
    links: dict[str, Document] = {}
    tags: dict[str, str] = {}
    await place_all(database, org_id)
    found = database[entries.NAME].find({"org_id": org_id}).sort("place", 1)
    for fact in [fact async for entry in found for fact in entry["facts"]]:
        if fact["type"] == "tag" and fact["name"] is None:
            del tags[fact["tag_id"]]
        elif fact["type"] == "tag":
            tags[fact["tag_id"]] = fact["name"]
        elif fact.get("purged"):
            del links[fact["link"]["_id"]]
        elif fact["type"].startswith("link."):
            links[fact["link"]["_id"]] = fact["link"] | {"has_password": fact.get("has_password", False)}
    return links, tags


async def stored(database: Database, org_id: OrgId) -> tuple[dict[str, Document], dict[str, str]]:
    """The links that are stored, without their passwords, and the names of tags."""
    links = {}
    async for link in database["links"].find({"org_id": org_id}):
        link["has_password"] = link["limits"].pop("password_hash", None) is not None
        links[link["_id"]] = link
    return links, {tag["_id"]: tag["name"] async for tag in database["tags"].find({"org_id": org_id})}
