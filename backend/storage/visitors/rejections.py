"""The `rejections` collection: why calls of an organization were rejected, how often, and when last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from pymongo import UpdateOne

from backend.domain.ids import OrgId
from backend.domain.visitors.rejections import Rejection
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

NAME = "rejections"
COLLECTION = Collection(
    name=NAME,
    indexes=[EXPIRY_INDEX],
    owned_by=ByIdPrefix(field=None),
    personal=NotPersonal("names of fields and rules, in the service's words; nothing that a call said"),
    retention=NoRetention("gone thirty days after it happened last"),
    archived=NotArchived("gone within a month"),
    shard_key=NotSharded("small, and gone within a month"),
    audited=NotAudited("it is no change by anybody, but what happened"),
)
KEPT = timedelta(days=30)
_Key = tuple[OrgId, date, Rejection]


@dataclass(frozen=True, slots=True)
class RejectionCount:
    """How many calls were rejected for one reason, when the last of them arrived, and how many came on the
    day of that, by the calendar of UTC."""

    rejection: Rejection
    calls: int
    last: datetime
    calls_of_day: int


@dataclass(frozen=True, slots=True)
class RejectedCalls:
    """The rejected calls of one request."""

    org_id: OrgId
    at: datetime
    rejections: tuple[Rejection, ...]


async def add_rejections(database: Database, requests: Iterable[RejectedCalls]) -> None:
    """Add the rejected calls of these requests to their organizations' counts.

    There is one small document for each kind of call, field and rule, however many calls are rejected.
    """
    calls: Counter[_Key] = Counter()
    last: dict[_Key, datetime] = {}
    for request in requests:
        for rejection in request.rejections:
            key = request.org_id, request.at.astimezone(UTC).date(), rejection
            calls[key] += 1
            last[key] = max(last.get(key, request.at), request.at)
    updates = [_update(*key, count, last[key]) for key, count in calls.items()]
    if updates:
        await database[NAME].bulk_write(updates, ordered=False)


async def list_rejections(database: Database, org_id: OrgId) -> list[RejectionCount]:
    """The organization's rejections, latest first. Each is deleted thirty days after it last happened."""
    counts = [_read(document) async for document in database[NAME].find(COLLECTION.scope(org_id))]
    return sorted(counts, key=lambda count: count.last, reverse=True)


def _update(org_id: OrgId, day: date, rejection: Rejection, calls: int, last: datetime) -> UpdateOne:
    fields = {"kind": rejection.kind, "field": rejection.field, "rule": rejection.rule}
    of_day = {
        "$switch": {
            "branches": [
                {"case": {"$eq": ["$day", day.isoformat()]}, "then": _plus("$calls_of_day", calls)},
                {"case": {"$gt": ["$day", day.isoformat()]}, "then": "$calls_of_day"},
            ],
            "default": calls,
        }
    }
    changed = {
        **{name: {"$literal": value} for name, value in fields.items()},
        "calls": _plus("$calls", calls),
        "last": {"$max": ["$last", last]},
        "expires_at": {"$max": ["$expires_at", last + KEPT]},
        "calls_of_day": of_day,
        "day": {"$max": ["$day", day.isoformat()]},
    }
    return UpdateOne({"_id": "/".join((org_id, *fields.values()))}, [{"$set": changed}], upsert=True)


def _plus(field: str, number: int) -> Document:
    return {"$add": [{"$ifNull": [field, 0]}, number]}


def _read(document: Document) -> RejectionCount:
    rejection = Rejection(document["kind"], document["field"], document["rule"])
    # Counts of earlier versions have no day.
    return RejectionCount(rejection, document["calls"], document["last"], document.get("calls_of_day", 0))
