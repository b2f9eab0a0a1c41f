"""MongoDB put back from a backup, as far as it concerns one organization's feed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, Document

Backup: TypeAlias = Mapping[str, Sequence[Document]]
COLLECTIONS = ("click_blocks", "feed_entries", "feed_heads")


async def back_up(database: Database, org_id: OrgId, collections: Sequence[str] = COLLECTIONS) -> Backup:
    """What these collections have of the organization now."""
    return {name: await database[name].find(_of(org_id)).to_list(None) for name in collections}


async def put_back(database: Database, org_id: OrgId, backup: Backup) -> None:
    """Let the collections of the backup have of the organization what they had then."""
    for name, documents in backup.items():
        await database[name].delete_many(_of(org_id))
        if documents:
            await database[name].insert_many(documents)


def _of(org_id: OrgId) -> Document:
    return {"$or": [{"org_id": org_id}, {"_id": org_id}]}
