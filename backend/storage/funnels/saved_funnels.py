"""The `funnels` collection: funnels that organizations have saved under a name."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pymongo import IndexModel

from backend.domain.analytics.funnels.funnel import Funnel
from backend.domain.analytics.funnels.input import FUNNEL_FIELDS, funnel_json, funnel_of
from backend.domain.analytics.funnels.saved import MOST_FUNNELS, SavedFunnel
from backend.domain.ids import FunnelId, OrgId
from backend.storage.driver.mongo import Database, Document
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.own_documents import OwnDocuments
from backend.storage.schema.ownership import ByField

NAME = "funnels"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("created_at", 1)])],
    owned_by=ByField(),
    personal=NotPersonal("it says what is counted, and of nobody in particular"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("an organization has few"),
    audited=Audited(kind="funnel", name="name"),
)
_FUNNELS = OwnDocuments(NAME, MOST_FUNNELS, "name")


async def create_funnel(
    database: Database, org_id: OrgId, fields: Mapping[str, Any], now: datetime
) -> SavedFunnel:
    """Store a new funnel of these fields, parsed by SAVED_FIELDS. Raises InvalidField."""
    funnel_id, created_at = FunnelId(str(uuid.uuid4())), now.replace(microsecond=0)
    saved = SavedFunnel(funnel_id, org_id, fields["name"], funnel_of(fields), created_at)
    await _FUNNELS.check_room(database, org_id)
    await database[NAME].insert_one(to_document(saved))
    return saved


async def list_funnels(database: Database, org_id: OrgId) -> list[SavedFunnel]:
    """All funnels of the organization, the oldest first."""
    cursor = database[NAME].find({"org_id": org_id}).sort([("created_at", 1), ("_id", 1)])
    return [from_document(document) async for document in cursor]


async def get_funnel(database: Database, org_id: OrgId, given_id: str) -> SavedFunnel:
    """The organization's funnel with this id. Raises ItemUnknown."""
    return from_document(await _FUNNELS.get(database, org_id, given_id))


async def change_funnel(
    database: Database, org_id: OrgId, given_id: str, fields: Mapping[str, Any]
) -> SavedFunnel:
    """Change these fields, parsed by SAVED_FIELDS. Raises InvalidField and ItemUnknown."""
    before = await get_funnel(database, org_id, given_id)
    if not fields:
        return before
    # As a whole: the fields fit each other, also where somebody else changes others at the same time.
    changes = funnel_json(funnel_of(fields, before.funnel)) | {"name": fields.get("name", before.name)}
    return from_document(await _FUNNELS.change(database, org_id, given_id, changes))


async def delete_funnel(database: Database, org_id: OrgId, given_id: str) -> None:
    """Delete the funnel. Raises ItemUnknown."""
    await _FUNNELS.delete(database, org_id, given_id)


def to_document(saved: SavedFunnel) -> Document:
    """The funnel as it is stored."""
    named = {"_id": saved.id, "org_id": saved.org_id, "name": saved.name, "created_at": saved.created_at}
    return named | funnel_json(saved.funnel)


def from_document(document: Document) -> SavedFunnel:
    """The funnel that is stored."""
    return SavedFunnel(
        FunnelId(document["_id"]),
        OrgId(document["org_id"]),
        document["name"],
        funnel_in(document),
        document["created_at"],
    )


def funnel_in(document: Document) -> Funnel:
    """What a stored funnel asks. Raises InvalidField where it is none."""
    return funnel_of({name: rule.parse(name, document[name]) for name, rule in FUNNEL_FIELDS.items()})
