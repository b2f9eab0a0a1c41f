"""What other processes change: a stream of the links and apps that are no longer what they were."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from backend.storage import apps, links
from backend.storage.mongo import Database, go_on_closing

# How long the server may wait for a change before it says that there is none, in milliseconds. Until it
# says so, nobody can tell a quiet stream from a dead one.
_HEARTBEAT_MS = 500
_PIPELINE: list[dict[str, Any]] = [
    {
        "$match": {
            "$or": [
                {"ns.coll": apps.NAME},
                # A new link is in no cache yet; links that are not there are not cached.
                {"ns.coll": links.NAME, "operationType": {"$ne": "insert"}},
                {"operationType": "dropDatabase"},
            ]
        }
    },
    {"$project": {"ns": 1, "operationType": 1, "documentKey": 1, "fullDocument": {"domain": 1, "path": 1}}},
]


@dataclass(frozen=True, slots=True)
class LinkChanged:
    """The link at this short URL is not what it was."""

    domain: str
    path: str


@dataclass(frozen=True, slots=True)
class EverythingChanged:
    """It can't be told what changed: apps of a domain, a link deleted, a collection dropped."""


@dataclass(frozen=True, slots=True)
class NothingChanged:
    """Everything up to now has been told."""


Change = LinkChanged | EverythingChanged | NothingChanged


async def watch_changes(database: Database) -> AsyncIterator[Change]:
    """Changes of links and apps from now on, with NothingChanged at least twice a second between them.

    The first value is NothingChanged: from then on, every change is told. Ends when the
    database is dropped, or by a storage error.
    """
    stream = database.watch(_PIPELINE, full_document="updateLookup", max_await_time_ms=_HEARTBEAT_MS)
    try:
        while stream.alive:  # type: ignore[truthy-function]  # a property; its stub says method
            found = await stream.try_next()
            yield _change(found) if found else NothingChanged()
    finally:
        go_on_closing(stream.close)


def _change(found: Any) -> Change:
    document = found.get("fullDocument")
    if found.get("ns", {}).get("coll") == links.NAME and document:
        return LinkChanged(document["domain"], document["path"])
    return EverythingChanged()
