"""By which fields collections are sharded on a cluster of MongoDB (docs/operations.md, "Growing")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from backend.storage import (
    calls,
    click_blocks,
    click_counts,
    clicks,
    counted_once,
    devices,
    events,
    identities,
    install_counts,
    installs,
    leads,
    organization_counts,
)
from backend.storage.collections import declared_indexes
from backend.storage.mongo import Database, Document

ShardKey = Mapping[str, int | str]
_BY_ID: ShardKey = {"_id": 1}
HASHED = "hashed"
# Collections that are not here stay whole, on one shard: they are small, live shortly, or have unique indexes
# that no one key begins.
SHARD_KEYS: Mapping[str, ShardKey] = {
    # An organization's blocks are read by time, and its id is the beginning of theirs.
    click_blocks.NAME: {"org_id": 1, "_id": 1},
    clicks.NAME: {"link_id": 1, "_id": 1},
    # An id begins with the link's, or the organization's, and what a request asks for is asked for by ids.
    click_counts.NAME: _BY_ID,
    install_counts.NAME: _BY_ID,
    organization_counts.NAME: _BY_ID,
    devices.NAME: _BY_ID,
    identities.NAME: _BY_ID,
    leads.NAME: _BY_ID,
    events.NAME: _BY_ID,
    calls.NAME: _BY_ID,
    installs.NAME: _BY_ID,
    counted_once.NAME: {"_id": HASHED},
}
_RANGES = {"$eq", "$in", "$gt", "$gte", "$lt", "$lte"}


@dataclass(frozen=True, slots=True)
class OtherKey:
    """A collection that a cluster has sharded in another way than declared. `key` is None: not declared."""

    collection: str
    found: ShardKey
    key: ShardKey | None


def is_targeted(key: ShardKey, condition: Document) -> bool:
    """Whether a cluster knows from this query which shards to ask, by the key's first field."""
    if any(is_targeted(key, each) for each in condition.get("$and", ())):
        return True
    if (branches := condition.get("$or")) and all(is_targeted(key, each) for each in branches):
        return True
    first, kind = next(iter(key.items()))
    return first in condition and _says_where(condition[first], is_hashed=kind == HASHED)


def _says_where(value: object, *, is_hashed: bool) -> bool:
    match value:
        case {"$regex": str(pattern)}:
            return not is_hashed and pattern.startswith("^")
        case dict():
            return not ({"$eq", "$in"} if is_hashed else _RANGES).isdisjoint(value)
        case re.Pattern():
            return not is_hashed and str(value.pattern).startswith("^")
    return True


def unique_indexes_against(key: ShardKey, collection: str) -> list[str]:
    """The collection's unique indexes that a cluster refuses, since they don't begin with the key."""
    fields = list(key)
    return [
        index.document["name"]
        for index in declared_indexes()[collection]
        if index.document.get("unique") and list(index.document["key"])[: len(fields)] != fields
    ]


async def find_other_keys(database: Database) -> list[OtherKey]:
    """The sharded collections of this cluster whose keys are not the declared ones.

    Raises StorageError, such as for a user who may not read the cluster's configuration.
    """
    others = []
    ours = {"_id": {"$regex": f"^{re.escape(database.name)}[.]"}}
    async for found in database.client["config"]["collections"].find(ours).sort("_id", 1):
        name = str(found["_id"]).removeprefix(f"{database.name}.")
        key = SHARD_KEYS.get(name)
        if "key" in found and (key is None or list(key.items()) != list(found["key"].items())):
            others.append(OtherKey(name, dict(found["key"]), key))
    return others
