"""Checks of shard keys: which queries and indexes they allow in a cluster (docs/operations.md, "Growing")."""

from __future__ import annotations

import re
from dataclasses import dataclass

from backend.storage.driver.mongo import Database, Document
from backend.storage.lifecycle.collections import declared_indexes, declared_shard_keys
from backend.storage.schema.collection import HASHED, ShardKey

_RANGES = {"$eq", "$in", "$gt", "$gte", "$lt", "$lte"}


@dataclass(frozen=True, slots=True)
class OtherShardKey:
    """A collection that a cluster shards by another key than `declared`, which is None if none is."""

    collection: str
    actual: ShardKey
    declared: ShardKey | None


def is_targeted(key: ShardKey, condition: Document) -> bool:
    """Whether this query has the first field of the shard key, so that a cluster need not ask all shards."""
    if any(is_targeted(key, branch) for branch in condition.get("$and", ())):
        return True
    if (branches := condition.get("$or")) and all(is_targeted(key, branch) for branch in branches):
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
    """The names of the collection's unique indexes that a cluster refuses: they don't begin with the key."""
    fields = list(key)
    return [
        index.document["name"]
        for index in declared_indexes()[collection]
        if index.document.get("unique") and list(index.document["key"])[: len(fields)] != fields
    ]


async def find_other_shard_keys(database: Database) -> list[OtherShardKey]:
    """The sharded collections of this cluster whose keys are not the declared ones.

    Raises StorageError, such as for a user who may not read the cluster's configuration.
    """
    others = []
    keys = declared_shard_keys()
    ours = {"_id": {"$regex": f"^{re.escape(database.name)}[.]"}}
    async for sharded in database.client["config"]["collections"].find(ours).sort("_id", 1):
        name = str(sharded["_id"]).removeprefix(f"{database.name}.")
        key = keys.get(name)
        if "key" in sharded and (key is None or list(key.items()) != list(sharded["key"].items())):
            others.append(OtherShardKey(name, dict(sharded["key"]), key))
    return others
