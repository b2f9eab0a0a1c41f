"""The `limited` collection: how many requests were refused, by organization, day and limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pymongo import UpdateOne

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, Document
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    StaysWhole,
)
from backend.storage.schema.ownership import ByIdPrefix

NAME = "limited"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ByIdPrefix(field=None),
    personal=NotPersonal("counts"),
    retention=NoRetention("gone within a month"),
    archived=NotArchived("gone within a month"),
    shard_key=StaysWhole("small, and gone within a month"),
)
# One small document a day, however much is refused.
KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Limited:
    """How many requests one limit refused, and when the last of them came."""

    limit: str
    requests: int
    last: datetime


async def add_limited(database: Database, refused: Iterable[tuple[OrgId, Limited]]) -> None:
    """Add these counts of refused requests; each comes with its organization's id."""
    updates = [_update(org_id, each) for org_id, each in refused]
    if updates:
        await database[NAME].bulk_write(updates, ordered=False)


async def list_limited(database: Database, org_id: OrgId) -> list[Limited]:
    """The organization's refused requests in the last thirty days: one row for each limit, largest first."""
    found: dict[str, Limited] = {}
    async for document in database[NAME].find(COLLECTION.scope(org_id)):
        for each in _read(document):
            before = found.get(each.limit, Limited(each.limit, 0, each.last))
            last = max(before.last, each.last)
            found[each.limit] = Limited(each.limit, before.requests + each.requests, last)
    return sorted(found.values(), key=lambda each: -each.requests)


def _update(org_id: OrgId, refused: Limited) -> UpdateOne:
    return UpdateOne(
        {"_id": f"{org_id}/{refused.last.date().isoformat()}"},
        {
            "$inc": {f"limits.{refused.limit}.requests": refused.requests},
            "$max": {f"limits.{refused.limit}.last": refused.last, "expires_at": refused.last + KEPT},
        },
        upsert=True,
    )


def _read(document: Document) -> Sequence[Limited]:
    limits: dict[str, Any] = document.get("limits", {})
    return [Limited(limit, each["requests"], each["last"]) for limit, each in limits.items()]
