"""What is counted for a link that is gone by then, since caches know it for some seconds longer."""

from __future__ import annotations

from datetime import timedelta

import httpx

from backend.domain.ids import LinkId
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.organization_deletion import delete_organization, finish_deletions
from backend.storage.lifecycle.purge import delete_late_counts, purge_link
from backend.storage.links import taken_clicks
from backend.storage.links.taken_clicks import take_clicks
from backend.system.clock import utc_now
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory


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
