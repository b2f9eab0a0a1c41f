"""Reads again what facts of a feed say has changed beyond what events tell."""

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

_AT_ONCE = 2_000


async def find_again(database: Database, org_id: OrgId, facts: Sequence[Fact]) -> dict[Name, Document | None]:
    """The documents that are to be read again; None for one that is gone."""
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for fact in facts:
        if fact["type"] == REREAD and fact["of"] in COLLECTIONS:
            wanted[COLLECTIONS[fact["of"]]].update(fact["ids"])
    found: dict[Name, Document | None] = {
        (collection, own_id): None for collection, own_ids in wanted.items() for own_id in own_ids
    }
    for collection, own_ids in wanted.items():
        async for each in _find(database, collection, org_id, own_ids):
            found[collection, each["_id"].partition("/")[2]] = each
    return found


async def find_last_seen(
    database: Database, org_id: OrgId, facts: Sequence[Fact], named: Mapping[Name, Document | None]
) -> dict[DeviceId, datetime]:
    """When devices that did something were seen last: no fact names one that has changed in nothing else."""
    wanted = {
        *(fact["device_id"] for fact in facts if fact["type"] == EventType.IDENTIFY),
        *(own_id for (name, _), each in named.items() if name in KINDS and each for own_id in _of(each)),
    } - {None, *(own_id for name, own_id in named if name == devices.NAME)}
    found = _find(database, devices.NAME, org_id, wanted, {"device_id": 1, "last_seen_at": 1})
    return {each["device_id"]: each["last_seen_at"] async for each in found}


def _of(record: Document) -> set[DeviceId | None]:
    """The devices that a record names."""
    return {record["device_id"], *(each["device_id"] for each in record.get(TELLINGS) or ())}


async def _find(
    database: Database,
    collection: str,
    org_id: OrgId,
    own_ids: Collection[str],
    fields: Document | None = None,
) -> AsyncIterator[Document]:
    ids = [f"{org_id}/{own_id}" for own_id in own_ids]
    for begin in range(0, len(ids), _AT_ONCE):
        some = {"_id": {"$in": ids[begin : begin + _AT_ONCE]}}
        async for each in database[collection].find(some, fields):
            yield each
