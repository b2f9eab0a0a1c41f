"""Holds links for the service's operator, and releases them. An organization can do neither."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from backend.domain.errors import OperatorError
from backend.domain.ids import LinkId
from backend.domain.links.links import Hold, Link
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.storage.links.writing.service_changes import change_as_service


class UnknownLink(OperatorError):
    """No link of any organization has this id."""

    def __init__(self, link_id: LinkId) -> None:
        super().__init__(f"There is no link with the id {link_id!r}.")


class NotHeld(OperatorError):
    """The link is not held."""

    def __init__(self, link_id: LinkId) -> None:
        super().__init__(f"The link {link_id} is not held; `waylink links held` shows those that are.")


async def hold_link(database: Database, link_id: LinkId, why: str, now: datetime) -> Link:
    """Hold a link of any organization. A link that is held already gets the new reason. Raises UnknownLink.

    All processes learn of it, as of any change of a link.
    """
    at = now.replace(microsecond=0)
    changed = {"hold": asdict(Hold(at, why)), "modified_at": at}
    link = await change_as_service(database, {"_id": link_id}, {"$set": changed}, now)
    if link is None:
        raise UnknownLink(link_id)
    return link


async def release_link(database: Database, link_id: LinkId, now: datetime) -> Link:
    """Release a link, which is as its organization left it. Raises UnknownLink and NotHeld."""
    change = {"$unset": {"hold": ""}, "$set": {"modified_at": now.replace(microsecond=0)}}
    link = await change_as_service(database, {"_id": link_id} | links.HELD, change, now)
    if link is None:
        if await database[links.NAME].find_one({"_id": link_id}, {"_id": 1}):
            raise NotHeld(link_id)
        raise UnknownLink(link_id)
    return link


async def list_held(database: Database) -> list[Link]:
    """All links that are held, of all organizations, the latest first."""
    cursor = database[links.NAME].find(links.HELD).sort("hold.at", -1)
    return [links.from_document(document) async for document in cursor]
