"""A stand-in for MongoDB that tells of changes of links at once, and answers reads as late as a test says."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any

from bson import Timestamp
from pymongo.errors import NetworkTimeout

from backend.domain.links.links import Link
from backend.storage.links import links
from backend.storage.links.links import to_document
from backend.storage.processes import heartbeats

# The driver gives a read up after this time, as `deadline` has it do for a visitor.
DEADLINE = 0.8


class TellingDatabase:
    """What LinkCache asks of a database: two collections, and a change stream."""

    def __init__(self) -> None:
        self.seconds = 0.0  # that a read takes
        self.reads = 0
        self.links: dict[tuple[str, str], Link] = {}
        self._events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._times: Iterator[int] = itertools.count(1)

    def __getitem__(self, name: str) -> _Collection:
        return _Collection(self, name)

    def get_collection(self, name: str, **_: object) -> _Collection:
        """A collection, whatever its write concern."""
        return _Collection(self, name)

    def watch(self, *_: object, **__: object) -> _Stream:
        """A change stream."""
        return _Stream(self._events)

    def change(self, link: Link) -> None:
        """Store a link in the place of another one, and tell of it."""
        self.links[link.domain, link.path] = link
        self._tell(links.NAME, "update", link.id, to_document(link))

    def delete(self, link: Link) -> None:
        """Delete a link, and tell of it."""
        del self.links[link.domain, link.path]
        self._tell(links.NAME, "delete", link.id, None)

    def beat(self, heart_id: str, document: dict[str, Any]) -> None:
        """Store a heartbeat, and tell of it."""
        self._tell(heartbeats.NAME, "replace", heart_id, document)

    def _tell(self, name: str, what: str, own_id: str, document: dict[str, Any] | None) -> None:
        event = {"operationType": what, "ns": {"coll": name}, "documentKey": {"_id": own_id}}
        stamp = {"clusterTime": Timestamp(next(self._times), 1)}
        self._events.put_nowait(event | stamp | ({"fullDocument": document} if document else {}))


class _Collection:
    def __init__(self, database: TellingDatabase, name: str) -> None:
        self._database = database
        self._name = name

    async def find_one(self, query: dict[str, Any], **_: object) -> dict[str, Any] | None:
        """The link that was there when the read began."""
        if self._name != links.NAME:
            return None
        self._database.reads += 1
        found = self._database.links.get((query["domain"], query["path"]))
        await asyncio.sleep(min(self._database.seconds, DEADLINE))
        if self._database.seconds > DEADLINE:
            raise NetworkTimeout("timed out")
        return to_document(found) if found else None

    async def replace_one(self, query: dict[str, Any], document: dict[str, Any], **_: object) -> None:
        """Store a heartbeat."""
        self._database.beat(query["_id"], document)


class _Stream:
    alive = True

    def __init__(self, events: asyncio.Queue[dict[str, Any]]) -> None:
        self._events = events
        self.resume_token = {"_data": "here"}

    async def try_next(self) -> dict[str, Any] | None:
        """The next event, if there is one soon."""
        try:
            async with asyncio.timeout(0.05):
                return await self._events.get()
        except TimeoutError:
            return None

    async def close(self) -> None:
        """Nothing is kept open."""
