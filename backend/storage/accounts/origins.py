"""The `origins` collection: an organization's Allowed Web Origins (contract, SDK rule 9)."""

from __future__ import annotations

from datetime import datetime

from pymongo import IndexModel

from backend.domain.accounts.origins import origin_matches, patterns_for
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, Document
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ByField

NAME = "origins"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("origin", 1)], unique=True), IndexModel("origin")],
    owned_by=ByField(),
    personal=NotPersonal("the organization made it, and its own people delete it"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("an organization has few"),
    audited=Audited(kind="origin", name="origin", created="allowed", deleted="refused"),
)


async def add_origin(database: Database, origin: str, org_id: OrgId, now: datetime) -> None:
    """Allow an origin. Does nothing if it is allowed already."""
    await database[NAME].update_one(
        {"org_id": org_id, "origin": origin}, {"$setOnInsert": {"created_at": now}}, upsert=True
    )


async def remove_origin(database: Database, origin: str, org_id: OrgId) -> bool:
    """Stop allowing an origin; False if it was not allowed."""
    return (await database[NAME].delete_one({"org_id": org_id, "origin": origin})).deleted_count == 1


async def list_origins(database: Database, org_id: OrgId) -> list[str]:
    """The organization's allowed origins in alphabetical order."""
    cursor = database[NAME].find({"org_id": org_id}).sort("origin", 1)
    return [document["origin"] async for document in cursor]


async def is_allowed(database: Database, origin: str, org_id: OrgId) -> bool:
    """Whether the organization allows this Origin header of a browser (SDK rule 9)."""
    return await _is_allowed(database, origin, {"org_id": org_id})


async def is_allowed_by_any(database: Database, origin: str) -> bool:
    """Whether any organization allows this Origin header of a browser."""
    return await _is_allowed(database, origin, {})


async def _is_allowed(database: Database, origin: str, owner: Document) -> bool:
    cursor = database[NAME].find({**owner, "origin": {"$in": patterns_for(origin)}}, {"origin": 1})
    return any([origin_matches(origin, document["origin"]) async for document in cursor])
