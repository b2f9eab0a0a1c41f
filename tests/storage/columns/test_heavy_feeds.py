"""However much a part of a feed names: it becomes rows, in the memory that there is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from tests.conftest import OrganizationFactory
from tests.storage.columns.heavy_feeds import store_blocks, store_summaries
from tests.storage.columns.hosts import count, host


@pytest.mark.parametrize("stored", [store_blocks, store_summaries])
async def test_a_page_that_names_very_much(
    database: Database,
    make_organization: OrganizationFactory,
    tmp_path: Path,
    stored: Callable[[Database, OrgId, int, int], Awaitable[None]],
) -> None:
    """More clicks than memory has room for at once are counted, and another organization's with them."""
    organization, other = await make_organization(), await make_organization()
    async with host(database, tmp_path, memory_mb=32) as projections:
        assert await count(projections, database, organization.id) == 0
        await stored(database, organization.id, 16, 10_000)
        await store_blocks(database, other.id, 1, 10)
        assert await count(projections, database, organization.id) == 160_000
        assert await count(projections, database, other.id) == 10
