"""The `installs` collection: every installation of an app, once for ever."""

from __future__ import annotations

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.installs import Install
from backend.storage.install_counts import add_install
from backend.storage.mongo import Database, Session, in_transaction

NAME = "installs"
INDEXES = [IndexModel([("org_id", 1), ("at", 1)])]


async def record_install(database: Database, install: Install) -> bool:
    """Store an install and count it for its link, both or neither; False if it was recorded before."""

    async def store(session: Session) -> None:
        await database[NAME].insert_one(
            {
                "_id": f"{install.org_id}/{install.install_id}",
                "org_id": install.org_id,
                "platform": install.platform.value,
                "link_id": install.link_id,
                "at": install.at,
            },
            session=session,
        )
        if install.link_id:
            await add_install(database, session, install.org_id, install.link_id, install.at)

    try:
        await in_transaction(database, store)
    except DuplicateKeyError:
        return False
    return True
