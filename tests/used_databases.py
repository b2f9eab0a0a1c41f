"""Databases that tests are done with, emptied for other tests.

To make one with all its indexes takes a MongoDB two thirds of a second of processor time, to empty one a
twentieth of that. It happens when a test takes one, long after what another one left running has ended.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

from pymongo import IndexModel, MongoClient
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.uri_parser import parse_uri

from backend.storage.lifecycle.collections import declared_indexes

Client = MongoClient[dict[str, Any]]
Hosts = frozenset[tuple[str, int | None]]

_MOST = 5_000  # documents: to drop more costs less than to delete them one by one

_names: defaultdict[Hosts, deque[str]] = defaultdict(deque)


def give_back(hosts: Hosts, name: str) -> None:
    """Keep a database of this server for others; nothing works on it any more."""
    _names[hosts].append(name)


def take(hosts: Hosts, client: Client) -> str | None:
    """The name of a database that has what a new one has after a start: every index, and nothing else."""
    names = _names[hosts]
    while names:
        name = names.popleft()
        if _is_emptied(client[name]):
            return name
        client.drop_database(name)
    return None


def has_any(hosts: Hosts) -> bool:
    """Whether there are databases to try."""
    return bool(_names[hosts])


def drop_all(uri: str) -> None:
    """Leave none of them on this server."""
    drop(uri, *_names.pop(hosts_of(uri), ()))


def drop(uri: str, *names: str) -> None:
    """Drop these databases of this server, on which nothing works any more: else the two are in each other's
    way."""
    with Client(uri) as client:
        for name in names:
            client.drop_database(name)


def hosts_of(uri: str) -> Hosts:
    """The servers that a URI names."""
    return frozenset(parse_uri(uri)["nodelist"])


def _is_emptied(database: Database[dict[str, Any]]) -> bool:
    """Whether it could be emptied: a test may have stored much in it, or changed or dropped indexes."""
    declared = declared_indexes()
    found = set(database.list_collection_names())
    for name in found - declared.keys():
        database.drop_collection(name)
    if database.command("dbStats")["objects"] > _MOST:
        return False
    for name, indexes in declared.items():
        if (name in found or indexes) and not _has_these(database[name], indexes):
            return False
        database[name].delete_many({})
    return True


def _has_these(collection: Collection[dict[str, Any]], indexes: list[IndexModel]) -> bool:
    made = {index["name"]: _definition(index) for index in collection.list_indexes()}
    made.pop("_id_", None)
    return made == {index.document["name"]: _definition(index.document) for index in indexes}


def _definition(index: Any) -> dict[str, Any]:
    return {**index, "key": list(index["key"].items()), "v": 2}
