"""The `limited` collection: how many requests rate limits refused, by organization, day and limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from pymongo import UpdateOne

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, Document
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotArchived,
    NotPersonal,
    NotSharded,
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
    shard_key=NotSharded("small, and gone within a month"),
    audited=NotAudited("it is no change by anybody, but what happened"),
)
# One small document a day, however much is refused.
KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class RateLimitedRequests:
    """How many requests one rate limit refused, and when the last of them came."""

    limit: str
    requests: int
    last: datetime


async def add_rate_limited(database: Database, refused: Iterable[tuple[OrgId, RateLimitedRequests]]) -> None:
    """Add these counts of refused requests; each comes with its organization's id."""
    updates = [_update(org_id, counted) for org_id, counted in refused]
    if updates:
        await database[NAME].bulk_write(updates, ordered=False)


async def list_rate_limited(database: Database, org_id: OrgId) -> list[RateLimitedRequests]:
    """The organization's refused requests in the last thirty days: one row for each limit, largest first."""
    by_limit: dict[str, RateLimitedRequests] = {}
    async for document in database[NAME].find(COLLECTION.scope(org_id)):
        for counted in _read(document):
            before = by_limit.get(counted.limit, RateLimitedRequests(counted.limit, 0, counted.last))
            requests, last = before.requests + counted.requests, max(before.last, counted.last)
            by_limit[counted.limit] = RateLimitedRequests(counted.limit, requests, last)
    return sorted(by_limit.values(), key=lambda counted: -counted.requests)


async def rate_limited_on(database: Database, org_id: OrgId, day: date) -> list[RateLimitedRequests]:
    """The organization's refused requests of a day in UTC: one row for each limit."""
    document = await database[NAME].find_one({"_id": f"{org_id}/{day.isoformat()}"})
    return list(_read(document)) if document else []


def _update(org_id: OrgId, refused: RateLimitedRequests) -> UpdateOne:
    return UpdateOne(
        {"_id": f"{org_id}/{refused.last.date().isoformat()}"},
        {
            "$inc": {f"limits.{refused.limit}.requests": refused.requests},
            "$max": {f"limits.{refused.limit}.last": refused.last, "expires_at": refused.last + KEPT},
        },
        upsert=True,
    )


def _read(document: Document) -> Sequence[RateLimitedRequests]:
    limits: dict[str, Any] = document.get("limits", {})
    return [RateLimitedRequests(limit, count["requests"], count["last"]) for limit, count in limits.items()]
