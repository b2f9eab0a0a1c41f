"""Reads documents again of which facts say that they changed, without saying how."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime

from backend.domain.feed.events import EventType
from backend.domain.feed.facts import REREAD, Fact
from backend.domain.ids import DeviceId, OrgId
from backend.storage.columns.rows.records import KINDS
from backend.storage.driver.mongo import Database, Document
from backend.storage.feed.packed import COLLECTIONS, Name
from backend.storage.visitors import devices
from backend.storage.visitors.records import TELLINGS

_IDS_PER_QUERY = 2_000


async def find_again(database: Database, org_id: OrgId, facts: Sequence[Fact]) -> dict[Name, Document | None]:
    """The documents that are to be read again; None for one that is gone."""
    ids_by_collection: defaultdict[str, set[str]] = defaultdict(set)
    for fact in facts:
        if fact["type"] == REREAD and fact["of"] in COLLECTIONS:
            ids_by_collection[COLLECTIONS[fact["of"]]].update(fact["ids"])
    documents: dict[Name, Document | None] = {
        (collection, own_id): None for collection, own_ids in ids_by_collection.items() for own_id in own_ids
    }
    for collection, own_ids in ids_by_collection.items():
        async for document in _find(database, collection, org_id, own_ids):
            documents[collection, document["_id"].partition("/")[2]] = document
    return documents


async def find_last_seen(
    database: Database, org_id: OrgId, facts: Sequence[Fact], named: Mapping[Name, Document | None]
) -> dict[DeviceId, datetime]:
    """The times at which active devices were last seen.

    A device of which nothing else has changed is named by no fact, so it is found by its records.
    """
    device_ids = {
        *(fact["device_id"] for fact in facts if fact["type"] == EventType.IDENTIFY),
        *(
            device_id
            for (name, _), record in named.items()
            if name in KINDS and record
            for device_id in _devices_of(record)
        ),
    } - {None, *(own_id for name, own_id in named if name == devices.NAME)}
    seen = _find(database, devices.NAME, org_id, device_ids, {"device_id": 1, "last_seen_at": 1})
    return {device["device_id"]: device["last_seen_at"] async for device in seen}


def _devices_of(record: Document) -> set[DeviceId | None]:
    """The devices that a record names."""
    return {record["device_id"], *(telling["device_id"] for telling in record.get(TELLINGS) or ())}


async def _find(
    database: Database,
    collection: str,
    org_id: OrgId,
    own_ids: Collection[str],
    fields: Document | None = None,
) -> AsyncIterator[Document]:
    ids = [f"{org_id}/{own_id}" for own_id in own_ids]
    for begin in range(0, len(ids), _IDS_PER_QUERY):
        condition = {"_id": {"$in": ids[begin : begin + _IDS_PER_QUERY]}}
        async for document in database[collection].find(condition, fields):
            yield document
