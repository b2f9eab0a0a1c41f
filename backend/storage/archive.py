"""Everything that an organization has: which documents of each collection are its own, in a fixed order."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pymongo.errors import OperationFailure

from backend.storage import (
    address_keys,
    api_keys,
    apps,
    calls,
    click_counts,
    click_logs,
    clicks,
    conversions,
    counted_once,
    deferred_links,
    devices,
    domains,
    events,
    idempotency,
    identities,
    install_counts,
    installs,
    leads,
    links,
    organizations,
    origins,
    rate_limits,
    refusals,
    sessions,
    users,
)
from backend.storage.mongo import Database, Document, Session

# So many links' clicks and counts are asked for at a time.
_LINKS_AT_ONCE = 200
_SNAPSHOT_TOO_OLD = {239, 246}


class SnapshotTooOld(RuntimeError):
    """The server keeps no past long enough for a read of this length."""

    def __init__(self) -> None:
        super().__init__(
            "Reading took longer than MongoDB keeps its past (minSnapshotHistoryWindowInSeconds, "
            "300 by default). Raise that, or stop the service and export with --no-snapshot."
        )


@dataclass(frozen=True, slots=True)
class Archived:
    """A collection of which every organization has its part.

    `condition` selects an organization's documents, or those of some of its links where `by_link` is true.
    """

    name: str
    condition: Callable[[Any], Document]
    by_link: bool = False


def _named_by_id(org_id: str) -> Document:
    return {"_id": org_id}


def _by_field(org_id: str) -> Document:
    return {"org_id": org_id}


def _by_membership(org_id: str) -> Document:
    return {"org_ids": org_id}


def _by_prefix(org_id: str) -> Document:
    return {"_id": {"$regex": f"^{re.escape(org_id)}/"}}


def _of_links(link_ids: list[str]) -> Document:
    return {"link_id": {"$in": link_ids}}


def _by_link_prefix(link_ids: list[str]) -> Document:
    return {"_id": {"$in": [re.compile(f"^{re.escape(link_id)}/") for link_id in link_ids]}}


# In the order in which they are restored: what was counted before the links that go on counting, and the
# organization itself and what lets anyone in at the very end.
HISTORY = (
    Archived(counted_once.NAME, _by_field),
    Archived(calls.NAME, _by_prefix),
    Archived(idempotency.NAME, _by_prefix),
    Archived(devices.NAME, _by_prefix),
    Archived(identities.NAME, _by_prefix),
    Archived(events.NAME, _by_prefix),
    Archived(leads.NAME, _by_prefix),
    Archived(conversions.NAME, _by_prefix),
    Archived(installs.NAME, _by_prefix),
    Archived(clicks.NAME, _of_links, by_link=True),
    Archived(click_counts.NAME, _by_link_prefix, by_link=True),
    Archived(install_counts.NAME, _by_link_prefix, by_link=True),
    Archived(refusals.NAME, _named_by_id),
    Archived(links.NAME, _by_field),
)
SETUP = (
    Archived(apps.NAME, _by_field),
    Archived(origins.NAME, _by_field),
    Archived(domains.NAME, _by_field),
    Archived(api_keys.NAME, _by_field),
    Archived(users.NAME, _by_membership),
    Archived(organizations.NAME, _named_by_id),
)
ARCHIVED = (*HISTORY, *SETUP)
# What is no organization's: where this service's own logs, limits and restores stand. And what is forgotten
# within a day: who is signed in, links that wait for an app, and the keys of their hashed addresses.
NOT_ARCHIVED = frozenset(
    {
        click_logs.NAME,
        rate_limits.NAME,
        "restores",
        sessions.NAME,
        deferred_links.NAME,
        address_keys.NAME,
    }
)


@asynccontextmanager
async def snapshot(database: Database, *, wanted: bool = True) -> AsyncIterator[Session]:
    """A session whose reads all see the database as it was at the first; raises SnapshotTooOld.

    Not `wanted`, each read sees the database as it is then.
    """
    try:
        async with await database.client.start_session(
            snapshot=wanted, causal_consistency=not wanted
        ) as session:
            yield session
    except OperationFailure as error:
        if error.code in _SNAPSHOT_TOO_OLD:
            raise SnapshotTooOld from None
        raise


async def count_owned(database: Database, session: Session, org_id: str) -> int:
    """How many documents `read_owned` gives."""
    total = 0
    for each in ARCHIVED:
        async for condition in _conditions(database, session, each, org_id):
            total += await database[each.name].count_documents(condition, session=session)
    return total


async def read_owned(
    database: Database, session: Session, org_id: str
) -> AsyncIterator[tuple[str, Document]]:
    """Every document of the organization with its collection's name, in the order of ARCHIVED.

    The same documents come in the same order, whichever database they are in.
    """
    for each in ARCHIVED:
        async for condition in _conditions(database, session, each, org_id):
            found = database[each.name].find(condition, session=session).sort("_id", 1).allow_disk_use(True)
            async for document in found:
                yield each.name, _part_of(each, document, org_id)


def is_owned(archived: Archived, document: Document, org_id: str) -> bool:
    """Whether a document that stands in an archive of the organization may be stored as its own."""
    own_id = str(document.get("_id"))
    if archived.condition is _named_by_id:
        return own_id == org_id
    if archived.condition is _by_membership:
        return bool(document["org_ids"] == [org_id])
    if archived.condition is _by_prefix and not own_id.startswith(f"{org_id}/"):
        return False
    return bool(document.get("org_id", org_id) == org_id)


def _part_of(archived: Archived, document: Document, org_id: str) -> Document:
    """What of a document is the organization's: a user's other organizations are not."""
    return document | {"org_ids": [org_id]} if archived.condition is _by_membership else document


async def _conditions(
    database: Database, session: Session, archived: Archived, org_id: str
) -> AsyncIterator[Document]:
    """The conditions that together select the organization's documents of a collection."""
    if not archived.by_link:
        yield archived.condition(org_id)
        return
    async for link_ids in _link_ids(database, session, org_id):
        yield archived.condition(link_ids)


async def _link_ids(database: Database, session: Session, org_id: str) -> AsyncIterator[list[str]]:
    group: list[str] = []
    owned = database[links.NAME].find({"org_id": org_id}, {"_id": 1}, session=session)
    async for link in owned.sort("_id", 1).allow_disk_use(True):
        group.append(link["_id"])
        if len(group) == _LINKS_AT_ONCE:
            yield group
            group = []
    if group:
        yield group
