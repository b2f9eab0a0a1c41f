"""The `installs` collection: every installation of an app, once for ever."""

from __future__ import annotations

from dataclasses import dataclass

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.installs import Install, Match
from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.deferred_links import claim
from backend.storage.install_counts import add_install
from backend.storage.mongo import Database, Session, in_transaction
from backend.storage.ownership import ByIdPrefix

NAME = "installs"
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("at", 1)])],
    owned_by=ByIdPrefix(),
    personal=NotPersonal("the id of an installation is the app's own and names no customer and no browser"),
    retention=NoRetention("an installation is recorded once for ever"),
)


@dataclass(frozen=True, slots=True)
class RecordedInstall:
    """What an installation was told at its first launch."""

    link_id: str | None
    match: Match


async def find_install(database: Database, org_id: str, install_id: str) -> RecordedInstall | None:
    """The organization's installation with that id, if it was recorded."""
    found = await database[NAME].find_one({"_id": f"{org_id}/{install_id}"})
    return RecordedInstall(found["link_id"], Match(found.get("match", Match.NONE))) if found else None


async def record_install(database: Database, install: Install) -> bool:
    """Store an install, count it for its link and claim its deferred deep link: all of it, or nothing.

    False if it was recorded before. Raises AlreadyClaimed.
    """

    async def store(session: Session) -> None:
        await database[NAME].insert_one(
            {
                "_id": f"{install.org_id}/{install.install_id}",
                "org_id": install.org_id,
                "platform": install.platform.value,
                "link_id": install.link_id,
                "match": install.match.value,
                "at": install.at,
            },
            session=session,
        )
        if install.candidate_id:
            await claim(database, session, install)
        if install.link_id:
            await add_install(database, session, install.org_id, install.link_id, install.at)

    try:
        await in_transaction(database, store)
    except DuplicateKeyError:
        return False
    return True
