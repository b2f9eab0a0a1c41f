"""The `qr_logos` collection: the logo of an organization that its QR codes can have."""

from __future__ import annotations

from datetime import datetime

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ById

NAME = "qr_logos"
COLLECTION = Collection(
    name=NAME,
    indexes=[],
    owned_by=ById(),
    personal=NotPersonal("the sign of the organization"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("an organization has one"),
    audited=Audited(kind="qr_logo", hidden=frozenset({"image"})),
)


async def set_logo(database: Database, org_id: OrgId, image: bytes, now: datetime) -> None:
    """Store the organization's logo, in the place of the one before."""
    document = {"_id": org_id, "image": image, "set_at": now}
    await database[NAME].replace_one({"_id": org_id}, document, upsert=True)


async def remove_logo(database: Database, org_id: OrgId) -> bool:
    """Delete the organization's logo. Returns whether it had one."""
    return bool((await database[NAME].delete_one({"_id": org_id})).deleted_count)


async def find_logo(database: Database, org_id: OrgId) -> bytes | None:
    """The organization's logo as a PNG file; None if it has none."""
    document = await database[NAME].find_one({"_id": org_id}, {"image": 1})
    return bytes(document["image"]) if document else None


async def has_logo(database: Database, org_id: OrgId) -> bool:
    """Whether the organization has a logo."""
    return await database[NAME].find_one({"_id": org_id}, {"_id": 1}) is not None
