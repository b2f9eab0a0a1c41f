"""Deletes a link for good, with everything that was counted for it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Iterator, Sequence
from datetime import datetime, timedelta

from backend.domain.all_resources import RESOURCES
from backend.domain.feed.facts import Fact
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import CreatedBy
from backend.domain.links.operations import ArchiveLink, LinkGone, LinkRequest
from backend.storage.analytics.clicks.click_windows import HasClicks
from backend.storage.analytics.client import Analytics
from backend.storage.apps import installs
from backend.storage.audit.acting import acting
from backend.storage.audit.facts import note_facts
from backend.storage.driver.deletion import delete_in_pieces
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.lifecycle.collections import COLLECTIONS
from backend.storage.links import links
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.feed_facts import audit_of_purge, purged_fact
from backend.storage.links.purged import add_purged_link, find_purged_since
from backend.storage.links.writing.writes import store_link
from backend.storage.outbox import entries
from backend.storage.processes.items import Items
from backend.storage.processes.work import Work
from backend.storage.resources.things import Things
from backend.storage.schema.ownership import ByLink
from backend.storage.schema.work_item import item_of_organization

# For how long after its purge a link's counts are looked for again.
_COUNTED_LATE = timedelta(hours=1)
_LINKS_PER_COMMAND = 200


class LinkHasClicks(ValueError):
    """The link was clicked, and its counts would be lost."""


class LinkIsHeld(ValueError):
    """The operator has stopped the link. If it were deleted, its short URL could be made again."""


async def purge_link(
    database: Database, analytics: Analytics | None, link_id: LinkId, org_id: OrgId, now: datetime
) -> bool:
    """Delete the organization's link and its counts. Returns False if it has no such link.

    Its installs stay, without the link. What visitors did stays as well, and so do its clicks in blocks. The
    link is archived first and deleted last, with a fact in the feed, so that it can be purged again after an
    interruption. With `analytics`, the link must not have been clicked. Raises LinkHasClicks and LinkIsHeld.
    """
    link = await links.find_link(database, link_id, org_id)
    if link is None:
        return False
    if link.hold:
        raise LinkIsHeld(link_id)
    has_clicks = analytics is not None and await analytics.ask(org_id, HasClicks(link_id))
    if has_clicks:
        raise LinkHasClicks(link_id)
    try:
        archive = LinkRequest(org_id, CreatedBy.REST, now, ArchiveLink(link_id))
        archived = await store_link(database, archive, DestinationPolicies(database))
    except LinkGone:  # another request was faster
        return False
    if archived.hold:  # the operator has stopped it since it was read
        raise LinkIsHeld(link_id)
    await delete_counts(database, [link_id])
    await add_purged_link(database, link_id, org_id, now)
    for resource in RESOURCES:
        await Things(resource).delete_with_link(database, org_id, link_id)
    of_link = {"org_id": org_id, "link_id": link_id}
    await database[installs.NAME].update_many(of_link, {"$set": {"link_id": None}})
    await delete_links(database, {"_id": link_id, "org_id": org_id}, now)
    return True


async def delete_links(database: Database, query: Document, now: datetime) -> int:
    """Delete the links that this query finds, with facts about them in the feed. Returns how many."""

    async def work(session: ClientSession) -> int:
        deleted_links = await links.find_all(database, session, query)
        facts: defaultdict[OrgId, list[Fact]] = defaultdict(list)
        audit: defaultdict[OrgId, list[Fact]] = defaultdict(list)
        for link in deleted_links:
            facts[link.org_id].append(purged_fact(link, now))
            audit[link.org_id].append(audit_of_purge(link, now, acting()))
        ids = [link.id for link in deleted_links]
        theirs = {"_id": {"$in": ids}, "org_id": {"$in": list(facts)}}
        await database[links.NAME].delete_many(theirs, session=session)
        await entries.note(database, session, facts)
        await note_facts(database, session, audit)
        return len(deleted_links)

    return await in_transaction(database, work)


async def delete_counts(database: Database, link_ids: Sequence[LinkId]) -> Counter[str]:
    """Delete the documents that belong to these links. Returns their numbers by collection."""
    deleted: Counter[str] = Counter()
    for name, owned_by in _of_links():
        result = await database[name].delete_many(owned_by.condition(link_ids))
        deleted[name] += result.deleted_count
    return deleted


async def delete_counts_of_organization(
    database: Database, org_id: OrgId
) -> AsyncGenerator[Counter[str], None]:
    """As `delete_counts`, of all of the organization's links, also of those that are gone; in pieces."""
    for name, _ in _of_links():
        async for deleted in delete_in_pieces(database, name, {"org_id": org_id}):
            yield Counter({name: deleted})


async def delete_late_counts(database: Database, now: datetime) -> None:
    """Delete what processes counted for links after they were purged: they know a link for seconds longer."""
    purged = await find_purged_since(database, now - _COUNTED_LATE)

    async def delete(org_id: OrgId) -> AsyncGenerator[None, None]:
        for begin in range(0, len(purged[org_id]), _LINKS_PER_COMMAND):
            await delete_counts(database, purged[org_id][begin : begin + _LINKS_PER_COMMAND])
            yield

    with_purged = [item_of_organization(org_id) for org_id in purged]
    await Items(database, Work.LATE_COUNTS).in_turns(with_purged, delete)


def _of_links() -> Iterator[tuple[str, ByLink]]:
    """The collections of what is counted for links."""
    for collection in COLLECTIONS:
        if isinstance(collection.owned_by, ByLink):
            yield collection.name, collection.owned_by
