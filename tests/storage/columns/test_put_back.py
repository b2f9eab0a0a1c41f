"""MongoDB was put back from a backup: the figures are those of what is stored now, and somebody is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.storage.analytics.file_troubles import FileTroubles
from backend.storage.driver.mongo import Database
from backend.storage.outbox import heads
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.facts.feeds import place_all
from tests.storage.columns.heavy_feeds import store_blocks
from tests.storage.columns.hosts import count, host

COLLECTIONS = ("click_blocks", "feed_entries", heads.NAME)


@pytest.mark.parametrize("came_since", [0, 2, 3, 5])
async def test_a_feed_that_was_put_back(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path, came_since: int
) -> None:
    """Fewer, as many or more entries have come since then than were lost, which is counted no more."""
    organization, other = await make_organization(), await make_organization()
    of_org = {"$or": [{"org_id": organization.id}, {"_id": organization.id}]}
    async with host(database, tmp_path) as projections:
        await store_blocks(database, organization.id, 2, 10)
        await store_blocks(database, other.id, 1, 7)
        await place_all(database, organization.id)
        backup = {name: await database[name].find(of_org).to_list(None) for name in COLLECTIONS}
        await store_blocks(database, organization.id, 3, 100)
        assert await count(projections, database, organization.id) == 320
        assert await count(projections, database, other.id) == 7
        for name, documents in backup.items():
            await database[name].delete_many(of_org)
            await database[name].insert_many(documents)
        await store_blocks(database, organization.id, came_since, 1)
        assert await count(projections, database, organization.id) == 20 + came_since
        assert await count(projections, database, other.id) == 7
    [trouble] = FileTroubles(tmp_path).read(utc_now()).values()
    assert trouble.org_id == organization.id
    assert "from a backup" in trouble.why
