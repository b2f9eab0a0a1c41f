"""Deletes an organization with everything that belongs to it.

One transaction first deletes what lets anyone in: the organization itself, its keys, and its users'
memberships. From then on the organization is in `deleted_organizations`, and nothing of it can be used again.
Where it has thousands of users, their memberships end in several transactions: one that takes too long would
be tried again for ever. Then its links are disabled, and everything else is deleted, collection by
collection, by the ownership that each declares. Its domains go last, so that whoever adds one finds no links
of another organization there. An announced deletion is the same, and its announcement is taken away in that
transaction.
After an interruption, the same call goes on, or a running service does, which also deletes what arrives late.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from backend.domain.accounts.deletion import AnnouncedDeletion
from backend.domain.ids import LinkId, OrgId, UserId
from backend.storage.accounts import domains, organizations
from backend.storage.accounts.announced_deletions import NotAnnounced, announced_items, begin_announced
from backend.storage.accounts.deleted_organizations import (
    Deletion,
    begin_deletion,
    deletion_items,
    find_deletion,
    find_disabled_to,
    note_disabled_to,
    note_end,
)
from backend.storage.accounts.directory.identities import delete_identities_of
from backend.storage.accounts.directory.people import unlink_people_of
from backend.storage.accounts.restores import unfinished_restores
from backend.storage.accounts.users import sessions, users
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks import logs as click_logs
from backend.storage.costs import costs
from backend.storage.driver.deletion import delete_in_pieces
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction, server_time
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.lifecycle import collections
from backend.storage.lifecycle.purge import delete_counts, delete_counts_of_organization, delete_late_counts
from backend.storage.lifecycle.restores import cancel_restore
from backend.storage.links import links
from backend.storage.links import purged as purged_links
from backend.storage.links.writing.domain_removal import settle
from backend.storage.outbox import entries
from backend.storage.processes.items import Items
from backend.storage.processes.periodic_task import PeriodicTask
from backend.storage.processes.work import Work
from backend.storage.schema.collection import Collection, Stage
from backend.storage.schema.ownership import Owned
from backend.system.clock import Clock

# A service goes on with a deletion only when it was begun this long ago: if two processes delete at the same
# time, each of them counts only a part of the documents.
_TAKEOVER_AFTER = timedelta(minutes=1)
_INTERVAL = timedelta(minutes=1)
# How long a service goes on with large ones before it looks for others that have become due.
_MOST_SECONDS = 300.0
# The links whose counts one command deletes.
_LINKS_PER_COMMAND = 200
# The users whose memberships one transaction ends.
_USERS_PER_TRANSACTION = 1_000
# What lets nobody in, and may be too much for a transaction.
_NOT_AT_ONCE = {costs.NAME}
# Users may belong to other organizations too. Domains and links are deleted in an order of their own.
_DELETED_SEPARATELY = {users.NAME, domains.NAME, links.NAME}


async def delete_organization(
    database: Database, org_id: OrgId, now: datetime, announced: AnnouncedDeletion | None = None
) -> Counter[str]:
    """Delete the organization. Returns the number of deleted documents by collection.

    If it was `announced`, it is deleted only if nobody has taken that back: else it raises NotAnnounced.

    The deletion may have been begun before. What an unfinished restore has stored is deleted as well. Raises
    UnknownOrganization if there is neither such an organization nor an unfinished deletion or restore of it.
    """
    return await _sum(_deleted(database, org_id, now, announced))


async def _deleted(
    database: Database, org_id: OrgId, now: datetime, announced: AnnouncedDeletion | None
) -> AsyncGenerator[Counter[str], None]:
    """As `delete_organization`; after each piece, the number of its documents by collection."""
    is_begun = await find_deletion(database, org_id)
    if not is_begun and org_id not in await unfinished_restores(database):
        await organizations.get_organization(database, org_id)
    yield await _revoke_access(database, org_id, now, announced)
    async for members in _end_memberships(database, org_id):
        yield Counter({users.NAME: members.deleted})
    # Afterwards no process has its keys or domains in a cache.
    await settle()
    async for deleted in _delete_rest(database, org_id):
        yield deleted


async def end_deletion(
    database: Database, org_id: OrgId, clock: Clock, waits: Callable[[float], object]
) -> Counter[str]:
    """Wait for the end of all transactions that were under way when the deletion began; delete the rest.

    `waits` is called once a second with the seconds that are left. Returns the number of documents that
    arrived late, by collection.
    """
    while deletion := await find_deletion(database, org_id):  # else a service has ended it
        seconds_left = (deletion.over_at - clock()).total_seconds()
        waits(max(0.0, seconds_left))
        if seconds_left < 0:
            return await _sum(_continued(database, deletion, clock()))
        await asyncio.sleep(min(1.0, seconds_left + 0.01))
    return Counter()


async def begin_due_deletions(database: Database, now: datetime) -> None:
    """Delete the organizations whose announced time has come. Each is deleted by one process of all."""

    async def delete(announced: AnnouncedDeletion) -> AsyncGenerator[None, None]:
        # Taken back just now, begun by another process, or gone by the command.
        with contextlib.suppress(NotAnnounced, organizations.UnknownOrganization):
            deleted = _deleted(database, announced.org_id, now, announced)
            async for _ in _while_unfinished(database, announced.org_id, deleted):
                yield

    due = await announced_items(database, until=now)
    await Items(database, Work.DELETIONS).in_turns(due, delete, seconds=_MOST_SECONDS)


async def finish_deletions(database: Database, now: datetime) -> None:
    """Go on with deletions that were begun a while ago, and end those for which nothing can arrive."""

    async def finish(deletion: Deletion) -> AsyncGenerator[None, None]:
        org_id = deletion.org_id
        if now - deletion.begun_at >= _TAKEOVER_AFTER and await find_deletion(database, org_id):
            async for _ in _while_unfinished(database, org_id, _continued(database, deletion, now)):
                yield

    unfinished = await deletion_items(database)
    await Items(database, Work.DELETIONS).in_turns(unfinished, finish, seconds=_MOST_SECONDS)


async def _while_unfinished(
    database: Database, org_id: OrgId, deleted: AsyncGenerator[Counter[str], None]
) -> AsyncGenerator[None, None]:
    """The pieces of a deletion, as long as it is one.

    While others have their turns, another process may end it, and the organization may be restored.
    """
    async for _ in deleted:
        yield
        if not await find_deletion(database, org_id):
            return


async def _continued(
    database: Database, deletion: Deletion, now: datetime
) -> AsyncGenerator[Counter[str], None]:
    """Delete what is there, in pieces, and end the deletion if nothing can arrive any more."""
    ended = 0
    async for members in _end_memberships(database, deletion.org_id):
        ended += members.ended
        yield Counter({users.NAME: members.deleted})
    async for deleted in _delete_rest(database, deletion.org_id):
        yield deleted
    # Whoever was a member until now may have asked for something just before.
    if now > deletion.over_at and not ended:
        await note_end(database, deletion.org_id)


async def _sum(pieces: AsyncGenerator[Counter[str], None]) -> Counter[str]:
    """The numbers of all pieces."""
    deleted: Counter[str] = Counter()
    async for of_piece in pieces:
        deleted += of_piece
    return deleted


def finishing_deletions(database: Database) -> PeriodicTask:
    """Carries out announced deletions in the background of a service, and finishes those that were begun.

    So it does with single links that were purged.

    It uses MongoDB's clock, since a host's clock may be wrong and what is deleted does not come back.
    """

    async def work() -> None:
        await begin_due_deletions(database, await server_time(database))
        await finish_deletions(database, await server_time(database))
        await delete_late_counts(database, await server_time(database))

    return PeriodicTask(Work.DELETIONS, work, _INTERVAL)


async def _revoke_access(
    database: Database, org_id: OrgId, now: datetime, announced: AnnouncedDeletion | None
) -> Counter[str]:
    """Delete what makes the organization usable, in one transaction. Raises NotAnnounced."""

    database = unrecorded(database)

    async def work(session: ClientSession) -> Counter[str]:
        deleted: Counter[str] = Counter()
        if announced:
            await begin_announced(database, session, announced)
        await begin_deletion(database, session, org_id, now)
        await cancel_restore(database, session, org_id)
        for collection in _owned():
            if collection.archived is Stage.SETUP and collection.name not in _NOT_AT_ONCE:
                name, condition = collection.name, collection.scope(org_id)
                result = await database[name].delete_many(condition, session=session)
                deleted[name] += result.deleted_count
        leaving = {"$set": {"is_leaving": True}}
        await database[domains.NAME].update_many({"org_id": org_id}, leaving, session=session)
        deleted[users.NAME] += (await _end_some_memberships(database, session, org_id)).deleted
        return deleted

    return await in_transaction(database, work)


class _Members(NamedTuple):
    """How many memberships were ended, and how many users were deleted with theirs."""

    ended: int
    deleted: int


async def _end_memberships(database: Database, org_id: OrgId) -> AsyncGenerator[_Members, None]:
    """End all memberships that are left, in pieces. After an interruption, the next call goes on."""
    database = unrecorded(database)
    while await database[users.NAME].find_one(_members_of(org_id), {"_id": 1}):
        yield await in_transaction(database, lambda session: _end_some_memberships(database, session, org_id))


async def _end_some_memberships(database: Database, session: ClientSession, org_id: OrgId) -> _Members:
    """Remove the organization from some of its users; delete those of no other one, and those whom its
    provider named."""
    names = {"org_ids": 1, "managed_by": 1}
    found = database[users.NAME].find(_members_of(org_id), names, session=session)
    members = [user async for user in found.limit(_USERS_PER_TRANSACTION)]
    alone = [
        UserId(user["_id"])
        for user in members
        if user["org_ids"] == [org_id] or user.get("managed_by") == org_id
    ]
    await database[sessions.NAME].delete_many({"user_id": {"$in": alone}}, session=session)
    await delete_identities_of(database, alone, session)
    await unlink_people_of(database, alone, session)
    await database[users.NAME].delete_many({"_id": {"$in": alone}}, session=session)
    leave, leaving = users.membership_change(org_id, None), [user["_id"] for user in members]
    await database[users.NAME].update_many({"_id": {"$in": leaving}}, leave, session=session)
    return _Members(len(members), len(alone))


def _members_of(org_id: OrgId) -> Document:
    return {"$or": [{"org_ids": org_id}, {"managed_by": org_id}]}


async def _delete_rest(database: Database, org_id: OrgId) -> AsyncGenerator[Counter[str], None]:
    """Delete the rest, in pieces, and in an order in which no background work stores documents again.

    Whoever goes on after any piece does not do it again: else one with very many links would never end, since
    a service begins this anew in each round.
    """
    database = unrecorded(database)
    stop = {"$set": {"is_enabled": False}}
    async for ids in _link_ids(database, links.NAME, org_id, await find_disabled_to(database, org_id)):
        await database[links.NAME].update_many({"_id": {"$in": ids}, "org_id": org_id}, stop)
        await note_disabled_to(database, org_id, ids[-1])
        yield Counter()
    # Without blocks nothing is merged, and without entries the sequencer writes no head of the feed.
    for name in (click_blocks.NAME, entries.NAME):
        async for deleted in _delete(database, collections.find_collection(name), org_id):
            yield deleted
    for name in (links.NAME, purged_links.NAME):
        async for ids in _link_ids(database, name, org_id):
            deleted = await delete_counts(database, ids)
            gone = await database[name].delete_many({"_id": {"$in": ids}, "org_id": org_id})
            yield deleted + Counter({name: gone.deleted_count})
    for collection in _owned():
        async for deleted in _delete(database, collection, org_id):
            yield deleted
    # Also what processes wrote of links that were gone by then: they know a link for some seconds longer.
    async for deleted in delete_counts_of_organization(database, org_id):
        yield deleted
    await click_logs.forget_organization(database, org_id)
    async for deleted in _delete(database, domains.COLLECTION, org_id):
        yield deleted


def _owned() -> list[Collection]:
    """The collections whose documents show their owner, without those that are deleted separately."""
    return [
        collection
        for collection in collections.COLLECTIONS
        if isinstance(collection.owned_by, Owned) and collection.name not in _DELETED_SEPARATELY
    ]


async def _delete(
    database: Database, collection: Collection, org_id: OrgId
) -> AsyncGenerator[Counter[str], None]:
    async for deleted in delete_in_pieces(database, collection.name, collection.scope(org_id)):
        yield Counter({collection.name: deleted})


async def _link_ids(
    database: Database, name: str, org_id: OrgId, after: str = ""
) -> AsyncIterator[list[LinkId]]:
    """The ids of the organization's documents in this collection, in groups that may be deleted meanwhile.

    Those that come `after` this one, in their order.
    """
    while True:
        condition: Document = {"org_id": org_id, "_id": {"$gt": after}}
        documents = database[name].find(condition, {"_id": 1}).sort("_id", 1).limit(_LINKS_PER_COMMAND)
        ids = [LinkId(document["_id"]) async for document in documents]
        if not ids:
            return
        yield ids
        after = ids[-1]
