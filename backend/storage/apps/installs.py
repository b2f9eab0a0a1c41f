"""The `installs` collection: every installation of an app.

The mark of an installation in `counted_once` stays after retention and erasure, so that it never counts
twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from dataclasses import dataclass

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.apps.installs import Install, Match
from backend.domain.feed.facts import install_fact
from backend.domain.ids import DeviceId, InstallId, LinkId, OrgId
from backend.storage.apps.clipboard_texts import redeem
from backend.storage.apps.deferred_links import claim
from backend.storage.apps.install_counts import add_install
from backend.storage.driver.mongo import ClientSession, Database, until_confirmed
from backend.storage.outbox import entries
from backend.storage.outbox.entries import AgesBy
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import BY_ID, IN_ID, AgesFrom, Collection, Personal, Stage
from backend.storage.schema.ownership import ByIdPrefix
from backend.storage.visitors import counted_once
from backend.storage.visitors.dated_writes import Days, Written, write_dated

NAME = "installs"
RETENTION = AgesFrom("at")
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel([("org_id", 1), ("at", 1)])],
    owned_by=ByIdPrefix(),
    personal=Personal(install=IN_ID),
    retention=RETENTION,
    archived=Stage.HISTORY,
    shard_key=BY_ID,
    audited=NotAudited("it is no change by anybody, but what happened"),
)


@dataclass(frozen=True, slots=True)
class RecordedInstall:
    """What an installation was told at its first launch: the link, and how it was found."""

    link_id: LinkId | None
    match: Match


async def find_install(database: Database, org_id: OrgId, install_id: InstallId) -> RecordedInstall | None:
    """The organization's installation with this id; None if it was never recorded.

    If it was erased or has expired, only the fact that it was recorded is known.
    """
    if recorded := await _find(database, org_id, install_id):
        return recorded
    if not await counted_once.was_counted(database, _once_key(org_id, install_id)):
        return None
    # The installation and its mark are stored together: this may have happened after the first look.
    return await _find(database, org_id, install_id) or RecordedInstall(None, Match.NONE)


async def _find(database: Database, org_id: OrgId, install_id: InstallId) -> RecordedInstall | None:
    document = await database[NAME].find_one({"_id": _id(org_id, install_id)})
    return RecordedInstall(document["link_id"], Match(document["match"])) if document else None


async def find_installs_of(database: Database, org_id: OrgId, devices: Iterable[DeviceId]) -> list[InstallId]:
    """The installations that are these devices. An app may write its id in capital letters."""
    written = {text for device_id in devices for text in (device_id, device_id.upper())}
    cursor = database[NAME].find(
        {"_id": {"$in": [f"{org_id}/{text}" for text in sorted(written)]}}, {"_id": 1}
    )
    return [InstallId(document["_id"].partition("/")[2]) async for document in cursor]


class AlreadyClaimed(Exception):
    """Another installation has claimed the click, or redeemed the text, first."""


async def record_install(database: Database, install: Install) -> bool:
    """Store an install, count it for its link and use up what led to it: all or nothing.

    Returns False if it was recorded before. Raises AlreadyClaimed.
    """

    async def store(session: ClientSession, days: Awaitable[Days]) -> list[Written]:
        own_id = _id(install.org_id, install.install_id)
        mark = counted_once.document(_once_key(install.org_id, install.install_id), install.at)
        await database[counted_once.NAME].insert_one(mark, session=session)
        await database[NAME].insert_one(
            {
                "_id": own_id,
                "org_id": install.org_id,
                "platform": install.platform.value,
                "link_id": install.link_id,
                "match": install.match.value,
                "at": install.at,
                "expires_at": RETENTION.expires_at(install.at, (await days).get(install.org_id)),
            },
            session=session,
        )
        await _use_up(database, session, install)
        if install.link_id:
            await add_install(database, session, install.org_id, install.link_id, install.at)
        facts = {install.org_id: [install_fact(install.install_id)]}
        await entries.note(database, session, facts, AgesBy.VISITORS)
        return [Written(COLLECTION, install.org_id, {"_id": own_id})]

    try:
        await write_dated(database, [install.org_id], store)
    except DuplicateKeyError:
        await until_confirmed(database)
        return False
    return True


async def _use_up(database: Database, session: ClientSession, install: Install) -> None:
    """Use up the clicks by address and the text that led to the install. Raises AlreadyClaimed."""
    for candidate_id in install.candidate_ids:
        if not await claim(database, session, install, candidate_id):
            raise AlreadyClaimed
    if not install.text_id:
        return
    text = await redeem(database, session, install.org_id, install.text_id)
    if text is None:
        raise AlreadyClaimed
    if text.candidate_id and text.candidate_id not in install.candidate_ids:
        # The tap left a match by address as well. Without it, somebody else at that address would get it.
        await claim(database, session, install, text.candidate_id)


def _id(org_id: OrgId, install_id: InstallId) -> str:
    return f"{org_id}/{install_id}"


def _once_key(org_id: OrgId, install_id: InstallId) -> counted_once.CountedKey:
    return (org_id, "install", install_id)
