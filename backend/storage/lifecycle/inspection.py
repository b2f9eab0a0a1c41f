"""Reads the server's state, and compares its indexes with the declared ones. Changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta
from enum import StrEnum
from typing import Any

from pymongo.errors import OperationFailure

from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import declared_indexes
from backend.system.clock import Clock

# The options that decide what an index does.
_RULES = ("unique", "expireAfterSeconds", "partialFilterExpression")


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the replica set. Its state is MongoDB's own word for it."""

    name: str
    state: str
    is_healthy: bool


@dataclass(frozen=True, slots=True)
class ServerState:
    """The state of the server.

    `set_name` is None if it has no replica set, `members` if the user may not see them. `ahead` is how far
    the server's clock is ahead of this machine's (negative: behind). `is_router`: it is a sharded cluster's.
    """

    version: str
    set_name: str | None
    is_writable: bool
    members: tuple[Member, ...] | None
    ahead: timedelta
    is_router: bool


class Difference(StrEnum):
    """How an index differs from its declaration."""

    MISSING = "missing"
    CHANGED = "changed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class IndexDifference:
    """An index that differs from its declaration. `is_unique`: it keeps the data free of duplicates."""

    collection: str
    index: str
    difference: Difference
    is_unique: bool


async def read_server_state(database: Database, clock: Clock) -> ServerState:
    """The state of the server. `clock` is this machine's clock. Raises StorageError."""
    began = clock()
    hello = await database.command("hello")
    ended = clock()
    build = await database.command("buildInfo")
    return ServerState(
        version=build["version"],
        set_name=hello.get("setName"),
        is_writable=bool(hello.get("isWritablePrimary")),
        members=await _members(database),
        is_router=hello.get("msg") == "isdbgrid",
        ahead=hello["localTime"].replace(tzinfo=UTC) - (began + (ended - began) / 2),
    )


async def compare_indexes(database: Database) -> AsyncIterator[IndexDifference]:
    """All indexes that differ from their declaration. Collections that do not exist are skipped."""
    existing = set(await database.list_collection_names())
    for name, declared in declared_indexes().items():
        if name not in existing:
            continue
        present = {document["name"]: dict(document) async for document in database[name].list_indexes()}
        expected = {index.document["name"]: index.document for index in declared}
        for index, document in expected.items():
            difference = _difference(document, present.get(index))
            if difference:
                yield IndexDifference(name, index, difference, bool(document.get("unique")))
        for index in present.keys() - expected.keys() - {"_id_"}:
            yield IndexDifference(name, index, Difference.UNKNOWN, bool(present[index].get("unique")))


def _difference(expected: Mapping[str, Any], present: Mapping[str, Any] | None) -> Difference | None:
    if present is None:
        return Difference.MISSING
    same_keys = list(expected["key"].items()) == list(present["key"].items())
    same_rules = all(expected.get(rule) == present.get(rule) for rule in _RULES)
    return None if same_keys and same_rules else Difference.CHANGED


async def _members(database: Database) -> tuple[Member, ...] | None:
    try:
        status = await database.client.admin.command("replSetGetStatus")
    except OperationFailure:
        return None
    return tuple(
        Member(member["name"], member["stateStr"], bool(member["health"]) and member["stateStr"] in _WORKING)
        for member in status["members"]
    )


_WORKING = {"PRIMARY", "SECONDARY", "ARBITER"}
