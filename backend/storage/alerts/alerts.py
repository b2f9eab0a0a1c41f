"""The `alerts` collection: what rules have told of, each cause once in a period.

The id is made of the rule, the cause and the period, and a rule has one open alert of a cause. Both are
unique, so that nothing is told twice, whatever process dies or goes on late.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from pymongo import DESCENDING, IndexModel, ReturnDocument

from backend.domain.alerts.alert import Alert
from backend.domain.ids import AlertRuleId, OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import (
    EXPIRY_INDEX,
    Collection,
    NoRetention,
    NotPersonal,
    NotSharded,
    Stage,
)
from backend.storage.schema.document_fields import time, true
from backend.storage.schema.document_shape import DocumentShape
from backend.storage.schema.own_documents import existing
from backend.storage.schema.ownership import ByIdPrefix

NAME = "alerts"
# After their end. Longer than any period that an alert is about.
KEPT = timedelta(days=100)
_OPEN = "open"  # the name of the index of open alerts
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("fired_at", DESCENDING), ("_id", DESCENDING)]),
        IndexModel(
            [("rule_id", 1), ("cause", 1)],
            unique=True,
            partialFilterExpression={"is_open": True},
            name=_OPEN,
        ),
        IndexModel([("rule_id", 1), ("fired_at", 1)]),
        EXPIRY_INDEX,
    ],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("figures, and addresses of sites and destinations, which are not visitors"),
    retention=NoRetention("gone a hundred days after its end"),
    archived=Stage.HISTORY,
    shard_key=NotSharded("few, and gone a hundred days after their end"),
    audited=NotAudited("it is no change by anybody, but what happened"),
)
SHAPE = DocumentShape(
    record=Alert,
    is_id_within_org=True,
    stored_at_times={"is_open": true, "is_unwatched": true, "expires_at": time},
)


async def open_alerts(database: Database, rule_id: AlertRuleId) -> list[Alert]:
    """The rule's alerts whose cause holds."""
    cursor = database[NAME].find({"rule_id": rule_id, "is_open": True})
    return [SHAPE.from_document(document) async for document in cursor]


async def organizations_with_open(database: Database) -> set[OrgId]:
    """The organizations that have an alert whose cause holds."""
    by_owner: list[Document] = [{"$match": {"is_open": True}}, {"$group": {"_id": "$org_id"}}]
    found = database[NAME].aggregate(by_owner, hint=_OPEN)
    return {OrgId(document["_id"]) async for document in found}


async def count_open(database: Database, org_id: OrgId) -> int:
    """How many alerts of the organization have a cause that holds."""
    return int(await database[NAME].count_documents({"org_id": org_id, "is_open": True}))


async def known_ids(database: Database, org_id: OrgId, ids: Iterable[str]) -> set[str]:
    """Those of these ids of alerts that there are."""
    query = {"_id": {"$in": [f"{org_id}/{own_id}" for own_id in ids]}}
    return {_own_id(document) async for document in database[NAME].find(query, {"_id": 1, "org_id": 1})}


async def count_sent(database: Database, rule_id: AlertRuleId, since: datetime) -> int:
    """How many alerts of the rule were sent since then."""
    query = {"rule_id": rule_id, "fired_at": {"$gt": since}, "is_sent": True}
    return int(await database[NAME].count_documents(query))


async def insert_alerts(database: Database, session: ClientSession, alerts: Sequence[Alert]) -> None:
    """Store these alerts in the caller's transaction. Raises StorageError if there is one of them."""
    await database[NAME].insert_many([_new_document(alert) for alert in alerts], session=session)


async def end_alert(
    database: Database, session: ClientSession, alert: Alert, ended_at: datetime, now: datetime
) -> bool:
    """Note in the caller's transaction that the alert's cause is over. Returns False if it was noted."""
    still_open = {"_id": f"{alert.org_id}/{alert.id}", "is_open": True}
    ended = await database[NAME].update_one(still_open, _ending(ended_at, now), session=session)
    return bool(ended.modified_count)


async def end_unwatched(
    database: Database, org_id: OrgId, watched: Sequence[AlertRuleId], now: datetime
) -> None:
    """End the organization's open alerts of all but these rules: nobody looks after them any more.

    What still holds when a rule is switched on again is told of again (`unwatched_causes`).
    """
    unwatched = {"org_id": org_id, "rule_id": {"$nin": list(watched)}, "is_open": True}
    ending = _ending(now, now)
    ending["$set"] |= {"is_unwatched": True}
    await database[NAME].update_many(unwatched, ending)


async def unwatched_causes(database: Database, rule_id: AlertRuleId, causes: Iterable[str]) -> set[str]:
    """Those of these causes whose latest alert ended only because the rule was switched off."""
    query = {"rule_id": rule_id, "cause": {"$in": list(causes)}}
    cursor = database[NAME].find(query, {"cause": 1, "is_unwatched": 1, "_id": 0}).sort("fired_at", 1)
    of_latest = {document["cause"]: document.get("is_unwatched", False) async for document in cursor}
    return {cause for cause, is_unwatched in of_latest.items() if is_unwatched}


def _ending(ended_at: datetime, now: datetime) -> Document:
    return {"$set": {"ended_at": ended_at, "expires_at": now + KEPT}, "$unset": {"is_open": ""}}


async def set_seen(database: Database, org_id: OrgId, own_id: str, seen_at: datetime | None) -> Alert:
    """Mark an alert as seen, or as not seen. Raises ItemUnknown."""
    query = {"_id": f"{org_id}/{own_id}", "org_id": org_id}
    changed = await database[NAME].find_one_and_update(
        query, {"$set": {"seen_at": seen_at}}, return_document=ReturnDocument.AFTER
    )
    return SHAPE.from_document(existing(changed))


async def set_all_seen(database: Database, org_id: OrgId, until: datetime, now: datetime) -> None:
    """Mark all of the organization's alerts as seen that were fired up to then."""
    not_seen = {"org_id": org_id, "seen_at": None, "fired_at": {"$lte": until}}
    await database[NAME].update_many(not_seen, {"$set": {"seen_at": now}})


async def count_not_seen(database: Database, org_id: OrgId) -> int:
    """How many alerts of the organization nobody has marked as seen."""
    return int(await database[NAME].count_documents({"org_id": org_id, "seen_at": None}))


async def list_alerts(
    database: Database,
    org_id: OrgId,
    limit: int,
    *,
    rule_id: AlertRuleId | None = None,
    before: str | None = None,
    is_open: bool = False,
) -> list[Alert]:
    """At most `limit` alerts of the organization, the newest first; with `is_open`, those that are.

    `before` is the id of the alert behind which to go on. Raises ItemUnknown where there is none.
    """
    query: Document = {"org_id": org_id}
    if rule_id:
        query["rule_id"] = rule_id
    if is_open:
        query["is_open"] = True
    if before:
        last = existing(await database[NAME].find_one({"_id": f"{org_id}/{before}", "org_id": org_id}))
        query["$or"] = [
            {"fired_at": {"$lt": last["fired_at"]}},
            {"fired_at": last["fired_at"], "_id": {"$lt": last["_id"]}},
        ]
    cursor = database[NAME].find(query).sort([("fired_at", DESCENDING), ("_id", DESCENDING)]).limit(limit)
    return [SHAPE.from_document(document) async for document in cursor]


def _new_document(alert: Alert) -> Document:
    return SHAPE.to_document(alert) | ({"is_open": True} if alert.ended_at is None else {})


def _own_id(document: Document) -> str:
    return str(document["_id"]).rpartition("/")[2]
