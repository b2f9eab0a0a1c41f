"""What is counted for a link that is gone by then, since caches know it for some seconds longer."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import COLLECTIONS
from backend.storage.lifecycle.organization_deletion import delete_organization, finish_deletions
from backend.storage.lifecycle.purge import delete_late_counts, purge_link
from backend.storage.links import taken_clicks
from backend.storage.links.purged import add_purged_link
from backend.storage.links.taken_clicks import take_clicks
from backend.storage.schema.ownership import ByLink
from backend.system.clock import utc_now
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory

OF_LINKS = {
    collection.name: collection.owned_by
    for collection in COLLECTIONS
    if isinstance(collection.owned_by, ByLink)
}


async def test_clicks_that_are_taken_late(
    client: httpx.AsyncClient, database: Database, make_organization: OrganizationFactory
) -> None:
    """Nothing stays of a purged link or a deleted organization; what others took stays."""
    organizations = [await make_organization() for _ in range(3)]
    ids = []
    for organization in organizations:
        ids.append(LinkId((await Links(client, organization).make(max_clicks=5))["id"]))
    deleted, purged, other = organizations
    await delete_organization(database, deleted.id, utc_now())
    assert await purge_link(database, None, ids[1], purged.id, utc_now())
    for organization, link_id in zip(organizations, ids, strict=True):
        await take_clicks(database, organization.id, link_id, 1, 5)
    now = utc_now()
    await finish_deletions(database, now + timedelta(hours=2))
    await delete_late_counts(database, now + timedelta(minutes=1))
    of_these = {"org_id": {"$in": [organization.id for organization in organizations]}}
    left = await database[taken_clicks.NAME].find(of_these).to_list(None)
    assert [document["org_id"] for document in left] == [other.id]


@pytest.mark.parametrize("name", OF_LINKS)
async def test_whatever_is_stored_late_of_a_link(
    database: Database, make_organization: OrganizationFactory, name: str
) -> None:
    """Of each kind of what belongs to links: it goes with a deleted organization, though nothing names the
    link any more, and with a purged link; what is another's stays."""
    deleted, purged, other = [(await make_organization()).id for _ in range(3)]
    now = utc_now()
    await delete_organization(database, deleted, now)
    await add_purged_link(database, link_of(purged), purged, now)
    field = OF_LINKS[name].field
    for org_id in (deleted, purged, other):
        late = {"_id": link_of(org_id) if field == "_id" else f"{link_of(org_id)}/late", "org_id": org_id}
        await database[name].insert_one(late)
    await finish_deletions(database, now + timedelta(minutes=3))
    await delete_late_counts(database, now + timedelta(minutes=1))
    of_these = {"org_id": {"$in": [deleted, purged, other]}}
    left = await database[name].find(of_these).to_list(None)
    assert [document["org_id"] for document in left] == [other]


def link_of(org_id: OrgId) -> LinkId:
    """The id of a link that the organization had."""
    return LinkId(f"{org_id}-link")
