"""Counts for each link by day, hour and minute (domain/links/window_counts), in any collection of counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pymongo import IndexModel, UpdateOne

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.window_counts import (
    FINE_BUCKETS_KEPT,
    WindowCounts,
    bucket_parts,
    buckets_of_windows,
    is_fine,
    window_counts,
)
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.schema.collection import EXPIRY_INDEX

# An event: its organization, its link and its time.
CountedMoment = tuple[OrgId, LinkId, datetime]
INDEXES = [EXPIRY_INDEX, IndexModel("org_id")]


async def add_moments(
    database: Database, collection: str, session: ClientSession | None, moments: Iterable[CountedMoment]
) -> None:
    """Count these events in the caller's transaction, so that all of them count or none."""
    increments: dict[tuple[OrgId, LinkId, str], Counter[str]] = {}
    latest: dict[tuple[OrgId, LinkId, str], datetime] = {}
    seconds = Counter((org_id, link_id, at.replace(microsecond=0)) for org_id, link_id, at in moments)
    for (org_id, link_id, at), count in seconds.items():
        for bucket, part in bucket_parts(at).items():
            key = (org_id, link_id, bucket)
            increments.setdefault(key, Counter())[part] += count
            latest[key] = max(at, latest.get(key, at))
    # Always in the same order, so that two transactions can't wait for each other.
    updates = [_increment(*key, increments[key], latest[key]) for key in sorted(increments)]
    if updates:
        await database[collection].bulk_write(updates, session=session, ordered=True)


async def read_windows(database: Database, collection: str, link_id: LinkId, now: datetime) -> WindowCounts:
    """A link's counts at `now`. Costs one query by id for a fixed number of small documents."""
    names = {_id(link_id, bucket): bucket for bucket in buckets_of_windows(now)}
    cursor = database[collection].find({"_id": {"$in": list(names)}}, {"parts": 1})
    return window_counts({names[document["_id"]]: document["parts"] async for document in cursor}, now)


def _increment(org_id: OrgId, link_id: LinkId, bucket: str, parts: Counter[str], at: datetime) -> UpdateOne:
    on_insert: dict[str, Any] = {"link_id": link_id}
    if is_fine(bucket):
        on_insert["expires_at"] = at + FINE_BUCKETS_KEPT
    increments = {f"parts.{part}": count for part, count in parts.items()}
    own = {"_id": _id(link_id, bucket), "org_id": org_id}
    return UpdateOne(own, {"$inc": increments, "$setOnInsert": on_insert}, upsert=True)


def _id(link_id: LinkId, bucket: str) -> str:
    return f"{link_id}/{bucket}"
